# ibfattree-campaign: studies of many fault sets.  Python, and runs the command ibfattree.
campaigndir = $(pkgdatadir)/campaign
dist_campaign_DATA = src/campaign/plot.py src/campaign/slurm.py src/campaign/stats.py \
	src/campaign/store.py src/campaign/study.py src/campaign/work.py
dist_bin_SCRIPTS += src/campaign/ibfattree-campaign
