# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Draws a CSV as a line plot in SVG.  The first line has the names of the columns.  The first
# column is x, the others are curves.  An empty field is a missing point.  The curve "paper
# minhop" is dashed and has the colour of the curve "minhop".  Variables: title, x_name, y_name.
BEGIN {
	FS = ","
	left = 70; top = 40; wide = 520; high = 300; right = 230
	n_colours = split("#2166ac #d95f02 #1b7837 #b2182b #7b3294 #555555 #c51b7d #8c510a #01665e #000000", colour, " ")
}
NR == 1 { n = NF; for (i = 2; i <= n; i++) name[i] = $i; next }
{
	x[++rows] = $1 + 0
	if (rows == 1 || x[rows] < x_low) x_low = x[rows]
	if (rows == 1 || x[rows] > x_up) x_up = x[rows]
	for (i = 2; i <= n; i++) {
		y[i, rows] = $i
		if ($i == "") continue
		if (!points++ || $i < y_low) y_low = $i + 0
		if (points == 1 || $i > y_up) y_up = $i + 0
	}
}
# A round number that divides the range into about five steps.
function round_step(range,   s, m) {
	if (range <= 0) return 1
	s = 10 ^ int(log(range / 5) / log(10) - (range < 5))
	m = range / 5 / s
	return s * (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10)
}
function px(v) { return left + wide * (x_up > x_low ? (v - x_low) / (x_up - x_low) : 0.5) }
function py(v) { return top + high * (1 - (v - low) / (up - low)) }
function colour_of(i,   j, of) {
	of = name[i]
	if (sub(/^paper /, "", of))
		for (j = 2; j <= n; j++)
			if (name[j] == of) return colour[(j - 2) % n_colours + 1]
	return colour[(i - 2) % n_colours + 1]
}
END {
	# start at zero unless all values are far from zero
	low = y_low > 0.5 * y_up ? y_low - 0.1 * (y_up - y_low) : y_low < 0 ? y_low : 0
	step = round_step(y_up - low)
	low = step * int(low / step - (low < 0))
	up = step * int(y_up / step); if (up < y_up || up == low) up += step
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"13\">\n", \
		left + wide + right, top + high + 60
	print "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
	printf "<text x=\"%d\" y=\"22\">%s</text>\n", left, title
	for (v = low; v <= up + step / 2; v += step) {
		printf "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n", left, left + wide, py(v), py(v)
		printf "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", left - 6, py(v) + 4, v
	}
	step = round_step(x_up - x_low)
	for (v = step * int(x_low / step); v <= x_up + step / 1e6; v += step)
		if (v >= x_low)
			printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n", px(v), top + high + 18, v
	printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", left + wide / 2, top + high + 42, x_name
	printf "<text transform=\"translate(16,%.1f) rotate(-90)\" text-anchor=\"middle\">%s</text>\n", top + high / 2, y_name
	for (i = 2; i <= n; i++) {
		dash = name[i] ~ /^paper/ ? " stroke-dasharray=\"5,4\"" : ""
		printf "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s points=\"", colour_of(i), dash
		for (r = 1; r <= rows; r++)
			if (y[i, r] != "") printf "%.1f,%.1f ", px(x[r]), py(y[i, r])
		print "\"/>"
		if (dash != "")
			for (r = 1; r <= rows; r++)
				if (y[i, r] != "")
					printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"none\" stroke=\"%s\"/>\n", px(x[r]), py(y[i, r]), colour_of(i)
		printf "<line x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"2\"%s/>\n", left + wide + 10, left + wide + 34, top + 18 * (i - 1) - 4, top + 18 * (i - 1) - 4, colour_of(i), dash
		printf "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", left + wide + 40, top + 18 * (i - 1), colour_of(i), name[i]
	}
	print "</svg>"
}
