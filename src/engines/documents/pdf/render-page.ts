import type { Pdfium } from "./pdfium.ts";
import type { ScannedPage } from "./scan-reader.ts";

const DOTS_PER_INCH = 200;
const POINTS_PER_INCH = 72;
const MAX_SIDE_PIXELS = 6_000;
/** FPDFBitmap_Gray, FPDF_GRAYSCALE (public/fpdfview.h). */
const GRAY = 1;
const GRAYSCALE = 0x08;

/** Renders a page as a grayscale image for text recognition; null if it has no size, or is all white. */
export function renderPage(pdfium: Pdfium, page: number): ScannedPage | null {
	const { call } = pdfium;
	const points = [call.FPDF_GetPageWidthF(page), call.FPDF_GetPageHeightF(page)] as const;
	const scale = Math.min(DOTS_PER_INCH / POINTS_PER_INCH, MAX_SIDE_PIXELS / Math.max(...points));
	const [width, height] = [Math.round(points[0] * scale), Math.round(points[1] * scale)];
	if (!(width > 0 && height > 0)) return null;
	return pdfium.withMemory(width * height, (at) => {
		const bitmap = call.FPDFBitmap_CreateEx(width, height, GRAY, at, width);
		if (bitmap === 0) return null;
		call.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xffffffff);
		call.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, GRAYSCALE);
		const gray = pdfium.bytes(at, width * height).slice();
		call.FPDFBitmap_Destroy(bitmap);
		return gray.every((shade) => shade > 250) ? null : { width, height, gray };
	});
}
