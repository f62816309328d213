# ibfattree-report: the page that shows a fabric.  Python, and runs the command ibfattree.
reportdir = $(pkgdatadir)/report
dist_report_DATA = src/command/report/layout.py src/command/report/head.html \
	src/command/report/body.html src/command/report/page.css src/command/report/model.js \
	src/command/report/load.js src/command/report/odd.js src/command/report/draw.js \
	src/command/report/panel.js src/command/report/main.js
dist_bin_SCRIPTS += src/command/report/ibfattree-report
