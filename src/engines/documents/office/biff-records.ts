/** Records of a binary workbook ([MS-XLS], 2.1.4), each with its continuations. */
export const BIFF = {
	formula: 0x06,
	endOfPart: 0x0a,
	header: 0x14,
	footer: 0x15,
	note: 0x1c,
	from1904: 0x22,
	filePassword: 0x2f,
	continued: 0x3c,
	codePage: 0x42,
	object: 0x5d,
	sheet: 0x85,
	multipleRk: 0xbd,
	richString: 0xd6,
	style: 0xe0,
	strings: 0xfc,
	stringOfTable: 0xfd,
	boxText: 0x1b6,
	hyperlink: 0x1b8,
	number: 0x203,
	label: 0x204,
	booleanOrError: 0x205,
	formulaString: 0x207,
	rk: 0x27e,
	format: 0x41e,
	begin: 0x809,
} as const;

export interface BiffRecord {
	readonly type: number;
	readonly data: Buffer;
	/** A long text continues in these. */
	readonly more: readonly Buffer[];
	/** The start of the record. */
	readonly at: number;
}

/** Yields the records from an offset to the end of the bytes. */
export function* biffRecords(bytes: Buffer, from: number): Generator<BiffRecord> {
	let at = from;
	while (at + 4 <= bytes.length) {
		const type = bytes.readUInt16LE(at);
		const begin = at;
		const data = bytes.subarray(at + 4, at + 4 + bytes.readUInt16LE(at + 2));
		at += 4 + bytes.readUInt16LE(at + 2);
		const more: Buffer[] = [];
		while (at + 4 <= bytes.length && bytes.readUInt16LE(at) === BIFF.continued) {
			const size = bytes.readUInt16LE(at + 2);
			more.push(bytes.subarray(at + 4, at + 4 + size));
			at += 4 + size;
		}
		yield { type, data, more, at: begin };
	}
}
