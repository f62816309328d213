# ibfattree-doctor: Python, and runs the command ibfattree.
doctordir = $(pkgdatadir)/doctor
dist_doctor_DATA = src/command/doctor/node.py src/command/doctor/fabric.py \
	src/command/doctor/results.py src/command/doctor/check_node.py \
	src/command/doctor/check_fabric.py src/command/doctor/check_tables.py
dist_bin_SCRIPTS += src/command/doctor/ibfattree-doctor
