/** A PDF of plain pages (ISO 32000-1, 7.5): what is written where, in points from the lower left corner. */
export interface PdfPage {
	/** Lines in their order; size 11 where none is given. */
	readonly lines?: readonly { readonly x: number; readonly y: number; readonly text: string; readonly size?: number }[];
	/** Annotations as dictionaries of PDF. */
	readonly annotations?: readonly string[];
	/** A gray picture that fills the page. */
	readonly picture?: { readonly width: number; readonly height: number; readonly gray: Uint8Array };
}

const escaped = (text: string) => text.replaceAll(/[\\()]/g, (sign) => `\\${sign}`);

/** @param catalog further keys of the document's catalog */
export function pdfFile(pages: readonly PdfPage[], catalog = ""): Uint8Array<ArrayBuffer> {
	const objects: Buffer[] = [];
	const add = (...parts: (string | Uint8Array)[]) =>
		objects.push(
			Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.from(part)))),
		);
	const stream = (head: string, bytes: string | Uint8Array) =>
		add(`<<${head}/Length ${bytes.length}>>\nstream\n`, bytes, "\nendstream");
	const pageAt = (index: number) => 4 + index * 3;
	add(`<</Type/Catalog/Pages 2 0 R${catalog}>>`);
	add(`<</Type/Pages/Count ${pages.length}/Kids[${pages.map((_, index) => `${pageAt(index)} 0 R`).join(" ")}]>>`);
	add("<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>");
	for (const [index, { lines = [], annotations = [], picture }] of pages.entries()) {
		const at = pageAt(index);
		const resources = `<</Font<</F 3 0 R>>/XObject<</I ${at + 2} 0 R>>>>`;
		add(
			`<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources${resources}/Contents ${at + 1} 0 R/Annots[${annotations.join("")}]>>`,
		);
		const text = lines.map(({ x, y, text, size = 11 }) => `BT /F ${size} Tf ${x} ${y} Td (${escaped(text)}) Tj ET`).join("\n");
		stream("", picture === undefined ? text : `q 600 0 0 800 0 0 cm /I Do Q\n${text}`);
		const { width, height, gray } = picture ?? { width: 1, height: 1, gray: new Uint8Array([255]) };
		stream(`/Type/XObject/Subtype/Image/Width ${width}/Height ${height}/ColorSpace/DeviceGray/BitsPerComponent 8`, gray);
	}
	let file = Buffer.from("%PDF-1.7\n");
	const places = objects.map((object, index) => {
		const place = file.length;
		file = Buffer.concat([file, Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from("\nendobj\n")]);
		return `${String(place).padStart(10, "0")} 00000 n \n`;
	});
	const end = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join("")}trailer\n<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${file.length}\n%%EOF\n`;
	return new Uint8Array(Buffer.concat([file, Buffer.from(end)]));
}
