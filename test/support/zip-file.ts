import { deflateRawSync } from "node:zlib";

/** A zip file of parts in their order (APPNOTE 6.3.10). */
export function zipFile(parts: Readonly<Record<string, string | Uint8Array>>): Uint8Array {
	const files: Buffer[] = [];
	const directory: Buffer[] = [];
	let at = 0;
	for (const [name, content] of Object.entries(parts)) {
		const bytes = Buffer.from(content);
		const packed = deflateRawSync(bytes);
		const sizes = Buffer.alloc(12);
		sizes.writeUInt32LE(Bun.hash.crc32(bytes), 0);
		sizes.writeUInt32LE(packed.length, 4);
		sizes.writeUInt32LE(bytes.length, 8);
		const nameBytes = Buffer.from(name);
		const lengths = Buffer.alloc(4);
		lengths.writeUInt16LE(nameBytes.length, 0);
		// Version 2.0, names in UTF-8, deflated, no date.
		const method = Buffer.from([20, 0, 0, 8, 8, 0, 0, 0, 0, 0]);
		const local = Buffer.concat([Buffer.from("PK\x03\x04"), method, sizes, lengths, nameBytes, packed]);
		const place = Buffer.alloc(14);
		place.writeUInt32LE(at, 10);
		directory.push(Buffer.concat([Buffer.from("PK\x01\x02"), Buffer.from([20, 0]), method, sizes, lengths, place, nameBytes]));
		files.push(local);
		at += local.length;
	}
	const entries = Buffer.concat(directory);
	const end = Buffer.alloc(22);
	end.write("PK\x05\x06", "latin1");
	end.writeUInt16LE(directory.length, 8);
	end.writeUInt16LE(directory.length, 10);
	end.writeUInt32LE(entries.length, 12);
	end.writeUInt32LE(at, 16);
	return Buffer.concat([...files, entries, end]);
}
