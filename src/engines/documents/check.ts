import { type Finding, fault, notice, ok } from "../../telemetry/finding.ts";
import type { DocumentReader } from "./port.ts";

const PROBE = "{\\rtf1 reads}";

/** Checks the document reader for `turnpike doctor`: starts it and reads; reports whether scanned pages can be read. */
export async function checkDocuments(reader: DocumentReader, tesseract = Bun.which("tesseract")): Promise<Finding> {
	const name = "document reader";
	try {
		const text = await reader.read(new TextEncoder().encode(PROBE), "probe.rtf", {
			tenant: "doctor",
			signal: AbortSignal.timeout(60_000),
		});
		if (text !== "reads") return fault(name, `reads a probe as ${JSON.stringify(text.slice(0, 40))}`, "npm install");
	} catch (error) {
		return fault(name, `does not run: ${error instanceof Error ? error.message : error}`, "npm install");
	}
	if (tesseract === null) return notice(name, "works; scanned pages are refused", "apt-get install tesseract-ocr");
	return ok(name, `works; scanned pages are read by ${tesseract}`);
}
