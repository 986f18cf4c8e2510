/** A page as an image: one byte a pixel, from the top left. */
export interface ScannedPage {
	readonly width: number;
	readonly height: number;
	readonly gray: Uint8Array;
}

/** Reads the text of a scanned page. */
export type ReadScan = (page: ScannedPage) => Promise<string>;
