/** What the adult-content model sees at once: RGB, row by row. */
export const VIEW_SIDE = 224;
export const VIEW_BYTES = VIEW_SIDE * VIEW_SIDE * 3;
