package kit
