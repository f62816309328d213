# manual pages
dist_man_MANS += man/ibfattree.7 man/ibfattree.conf.5
