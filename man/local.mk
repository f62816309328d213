# manual pages
dist_man_MANS += man/ibfattree.7 man/ibfattree.conf.5 man/ibfattree.1 \
	man/ibfattree-gen.1 man/ibfattree-route.1 man/ibfattree-check.1 \
	man/ibfattree-load.1 man/ibfattree-collective.1 man/ibfattree-diff.1 \
	man/ibfattree-report.1 man/ibfattree-slurm.1 man/ibfattree-ranks.1 \
	man/ibfattree-pairs.1 man/ibfattree-topo.1 man/ibfattree-nodes.1 \
	man/ibfattree-top.1 man/ibfattree-drain.1 man/ibfattree-undrain.1 man/ibfattree-drains.1 \
	man/ibfattree-whatif.1 man/ibfattree-sim.1 \
	man/ibfattree-campaign.1 man/ibfattree-completion.1 man/ibfattree-doctor.1 \
	man/ibfattree-save.1 man/ibfattree-restore.1 man/ibfattree-json.5
