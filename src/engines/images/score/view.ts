/** The input of the adult-content model: RGB, row by row. */
export const VIEW_SIDE = 224;
export const VIEW_BYTES = VIEW_SIDE * VIEW_SIDE * 3;
