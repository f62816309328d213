# manual pages
