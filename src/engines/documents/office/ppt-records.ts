import { DocumentFault } from "../document-fault.ts";
import { MAX_XML_DEPTH } from "../limits.ts";

/** The records of a binary presentation that hold its text ([MS-PPT], 2.13.24; shapes: [MS-ODRAW]). */
export const PPT = {
	slideAtom: 1007,
	slidePlace: 1011,
	slideShow: 1017,
	placeholder: 3011,
	headersFooters: 4057,
	outlineText: 3998,
	textKind: 3999,
	wideText: 4000,
	narrowText: 4008,
	string: 4026,
	slideList: 4080,
	userEdit: 4085,
	extension: 5003,
	places: 6002,
	comment: 12000,
	group: 0xf003,
	shape: 0xf004,
	textBox: 0xf00d,
	place: 0xf00f,
	moreProperties: 0xf122,
} as const;

const CONTAINER = 15;

export interface PptRecord {
	readonly type: number;
	readonly instance: number;
	readonly data: Buffer;
	readonly isContainer: boolean;
}

/** Returns the record at an offset; null if none begins there. */
export function pptRecord(bytes: Buffer, at: number): PptRecord | null {
	if (at + 8 > bytes.length) return null;
	const head = bytes.readUInt16LE(at);
	const type = bytes.readUInt16LE(at + 2);
	const data = bytes.subarray(at + 8, at + 8 + bytes.readUInt32LE(at + 4));
	// Slide extensions are containers without the container flag.
	return { type, instance: head >> 4, data, isContainer: (head & 15) === CONTAINER || type === PPT.extension };
}

/** Yields the records in a container. */
export function* pptRecords(bytes: Buffer): Generator<PptRecord> {
	for (let at = 0; ; ) {
		const record = pptRecord(bytes, at);
		if (record === null) return;
		yield record;
		at += 8 + bytes.readUInt32LE(at + 4);
	}
}

/**
 * Yields all records of a type at any depth, without searching inside them.
 * @throws {DocumentFault}
 */
export function* pptDescendants(bytes: Buffer, type: number, depth = 0): Generator<PptRecord> {
	if (depth > MAX_XML_DEPTH) throw new DocumentFault("too-large", "The file nests too deep");
	for (const record of pptRecords(bytes)) {
		if (record.type === type) yield record;
		else if (record.isContainer) yield* pptDescendants(record.data, type, depth + 1);
	}
}
