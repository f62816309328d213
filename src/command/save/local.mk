# ibfattree-save and ibfattree-restore: Python, and run the command ibfattree.
dist_bin_SCRIPTS += src/command/save/ibfattree-save src/command/save/ibfattree-restore
