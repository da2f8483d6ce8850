#include "all_headers.h"
int header_c_ok(void);
int header_c_ok(void)
{
	return (int)FW_OK;
}
