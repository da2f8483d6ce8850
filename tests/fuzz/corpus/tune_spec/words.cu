__global__ __attribute__((x)) void k(unsigned long long const volatile *__restrict__ const p, std::uint8_t q, long double r);
