# ibfattree-campaign: studies of many fault sets.  Python, and runs the command ibfattree.
campaigndir = $(pkgdatadir)/campaign
dist_campaign_DATA = src/lab/campaign/plot.py src/lab/campaign/slurm.py src/lab/campaign/stats.py \
	src/lab/campaign/store.py src/lab/campaign/study.py src/lab/campaign/work.py
dist_bin_SCRIPTS += src/lab/campaign/ibfattree-campaign
