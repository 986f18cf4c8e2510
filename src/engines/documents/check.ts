import type { EngineCheck } from "../engine-check.ts";
import type { DocumentReader } from "./port.ts";

const PROBE = "{\\rtf1 reads}";

/** The document reader for `turnpike doctor`: starts it and reads; says whether scanned pages can be read. */
export async function checkDocuments(reader: DocumentReader, tesseract = Bun.which("tesseract")): Promise<EngineCheck> {
	const name = "document reader";
	try {
		const text = await reader.read(new TextEncoder().encode(PROBE), "probe.rtf", {
			tenant: "doctor",
			signal: AbortSignal.timeout(60_000),
		});
		if (text !== "reads") return { name, ok: false, text: `reads a probe as ${JSON.stringify(text.slice(0, 40))}` };
	} catch (fault) {
		return { name, ok: false, text: `does not run: ${fault instanceof Error ? fault.message : fault}` };
	}
	const scans =
		tesseract === null
			? "scanned pages are refused: install tesseract-ocr to read them"
			: `scanned pages are read by ${tesseract}`;
	return { name, ok: true, text: `works; ${scans}` };
}
