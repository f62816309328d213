# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# A real Chromium opens the pages of "ibfattree report".

# page CASE FILE.html [WORD...]: run a case of report.py.
page() {
	want chromium chromedriver python3
	/usr/bin/python3 -c 'import selenium' 2>/dev/null ||
		skip "python3-selenium is not installed"
	/usr/bin/python3 "$here/report.py" "$@"
}

case_report_page() {
	"$ibfattree" gen "2;4,6;1,4;1,2" -o "$T/f.net" --drop-links 2
	"$ibfattree" report "$T/f.net" --engine dmodc --engine sftree \
		-o "$T/f.html"
	page page "$T/f.html" "$T"
}

# Findings of doctor are shown at their places: a slow link, and a switch with missing links.
# A finding whose place is not on the page is shown as plain text.
case_report_doctor() {
	"$ibfattree" gen "2;4,6;1,4;1,1" --drop-links 2 -o "$T/f.net"
	# slow down the link from sw-1-0 port 5 to sw-2-0 port 1, at both ends
	sed -E '/"S-020002(0){10}"\[1\]|"S-020001(0){10}"\[5\]/s/4xEDR/1xSDR/' \
		"$T/f.net" >"$T/slow.net"
	[[ $(grep -c 1xSDR "$T/slow.net") == 2 ]] || fail "no link was changed"
	"$ibfattree" doctor "$T/slow.net" --json >"$T/found.json"
	sed 's/"checks": *\[/&{"id":"planted","verdict":"failure","text":"<b>of \\"another\\" fabric<\/b>","remedy":null,"n_details":12,"details":["nowhere"],"places":[{"guid":"0x0000000000000001","port":3}]},/' \
		"$T/found.json" >"$T/doctor.json"
	cmp -s "$T/found.json" "$T/doctor.json" && fail "nothing was planted"
	"$ibfattree" report "$T/slow.net" --doctor "$T/doctor.json" -o "$T/f.html"
	! grep -q '<b>of' "$T/f.html" || fail "the text of a finding is HTML in the page"
	page doctor "$T/f.html" "$T"
	local status=0
	"$ibfattree" report "$T/slow.net" --doctor "$T/f.net" \
		-o "$T/no.html" 2>"$T/err" || status=$?
	[[ $status == 2 ]] && grep -q 'not the output of ibfattree doctor' "$T/err"
}

case_report_faults() {
	"$ibfattree" gen "2;6,8;1,6;1,1" --drop-links 6 -o "$T/f.net"
	"$ibfattree" report "$T/f.net" --fail 'sw-2-0' -o "$T/f.html" || true
	page faults "$T/f.html" "$T"
}

case_report_credit_loop() {
	"$ibfattree" report "$golden/ring.net" --lfts \
		"$golden/ring-clockwise.lfts" -o "$T/f.html" && fail "no finding"
	page loop "$T/f.html" "$T"
}

case_report_diff() {
	"$ibfattree" gen "2;4,6;1,4;1,1" -o "$T/old.net"
	"$ibfattree" gen "2;4,6;1,4;1,1" --drop-links 3 --drop-hosts 1 \
		-o "$T/new.net"
	"$ibfattree" report --diff "$T/old.net" "$T/new.net" -o "$T/f.html"
	page diff "$T/f.html" "$T"
}

# Names of nodes come from the fabric.  The browser must not interpret them as HTML or as a program.
case_report_hostile_names() {
	"$ibfattree" gen "2;2,2;1,2;1,1" -o "$T/plain.net"
	# an ampersand is special in sed
	sed -e 's|"host-0"|"</script><script>document.title=1//"|' \
		-e 's|"host-1"|"<img src=x onerror=alert(1)>"|' \
		-e 's|"sw-1-0"|"\&lt;b\&gt;\xe2\x80\xa8\xff\x27"|' \
		"$T/plain.net" >"$T/f.net"
	cmp -s "$T/plain.net" "$T/f.net" && fail "no name was changed"
	"$ibfattree" report "$T/f.net" -o "$T/f.html"
	! grep -q '<img' "$T/f.html" || fail "a name is HTML in the page"
	page hostile "$T/f.html" "$T"
}

# The page shows the load of given traffic: four hosts of one leaf send to the four hosts of another
# leaf.
case_report_traffic() {
	local i
	"$ibfattree" gen "2;4,4;1,4;1,1" -o "$T/f.net"
	for i in 0 1 2 3; do
		echo "\"host-$i\" \"host-$((i + 8))\""
	done >"$T/pairs"
	"$ibfattree" report "$T/f.net" --patterns "$T/pairs" -o "$T/f.html"
	page traffic "$T/f.html" "$T"
}

case_report_large() {
	"$ibfattree" gen "3;18,24,40;1,18,18;1,1,1" --random-guids \
		--random-ports --drop-links 40 -o "$T/f.net"
	"$ibfattree" report "$T/f.net" -o "$T/f.html"
	page large "$T/f.html" "$T"
}

case_report_topograph() {
	local f
	f=$(real topograph/topograph.net) || { echo "$f"; exit 77; }
	"$ibfattree" report "$f" -o "$T/f.html"
	page topograph "$T/f.html" "$T"
}
