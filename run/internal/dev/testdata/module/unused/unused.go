package unused
