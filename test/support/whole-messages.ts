/** Shows values of failed assertions whole: forty characters, as is the default, hid why a test failed on another machine. */

import { config } from 'chai'

config.truncateThreshold = 4_000
