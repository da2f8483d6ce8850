// A 48 KB buffer against tiles: rows of 12,000 floats. Where a tile holds all that is needed (moving average), and where
// giving up the buffer means reading the row twice (normalisation).
#include "rows.cuh"

int main(int argc, char **argv)
{
	const int width = 12000, rows = 5280; // 253 MB: four times the L2; 40 rows for each of 132 SMs
	const size_t whole = width * sizeof(float), tile = (TILE_FLOATS + 2 * RADIUS) * sizeof(float);
	Rows r(rows, width, 5);
	std::vector<Variant> smooth, norm;

	smooth.push_back(r.variant("whole row, 48,000 B", smooth_whole, whole, false));
	smooth.push_back(r.variant("tile, 12,032 B", smooth_tile, tile, false));
	norm.push_back(r.variant("whole row, 48,000 B", norm_whole, whole, true));
	norm.push_back(r.variant("no buffer, read twice", norm_twice, 0, true));
	run("shared-buffer-smooth", smooth, is_once(argc, argv));
	run("shared-buffer-normalise", norm, is_once(argc, argv));
	return 0;
}
