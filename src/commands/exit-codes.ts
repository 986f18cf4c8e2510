/** sysexits.h: the command line is invalid, or names something that this store does not have. */
export const EXIT_USAGE = 64;
