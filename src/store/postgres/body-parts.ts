/**
 * Bodies of stored answers that are too large for a journal record. The node has them as files, and ships them into
 * the store in parts before the post that names them. A part is one statement, so that memory and locks stay small.
 */
import type { SQL } from "bun";
import type { ReadGroup } from "../../journal/index.ts";
import type { JournalRecord, StoredAnswerPart } from "../../journal/records.ts";
import { answerFile } from "../data-folder.ts";

const PART_BYTES = 1 << 20;
/** Only records with this text are parsed before they are applied. */
const MARK = '"kept":{';

/**
 * Ships the bodies that the groups' posts name. May be run again: existing parts stay. A missing file is skipped: its
 * answer is then not stored, but its post is applied all the same.
 */
export async function shipBodies(sql: SQL, groups: readonly ReadGroup[], dataDir: string): Promise<void> {
	for (const text of groups.flatMap((group) => group.records)) {
		if (!text.includes(MARK)) continue;
		const answerPart = keptPart(text);
		const path = answerPart?.file ? answerFile(dataDir, answerPart.file) : null;
		if (answerPart?.file && path !== null) await shipBody(sql, answerPart.file, path, answerPart.bytes);
	}
}

async function shipBody(sql: SQL, name: string, path: string, bytes: number): Promise<void> {
	const file = Bun.file(path);
	if (!(await file.exists()) || file.size !== bytes) return;
	const [row] = await sql.unsafe("SELECT count(*) AS parts FROM idempotency_bodies WHERE file = $1", [name]);
	const parts = Math.ceil(bytes / PART_BYTES);
	for (let part = Number(row.parts); part < parts; part++) {
		const body = new Uint8Array(await file.slice(part * PART_BYTES, (part + 1) * PART_BYTES).arrayBuffer());
		await sql.unsafe(
			`INSERT INTO idempotency_bodies (file, part, body, shipped_at)
				VALUES ($1, $2, $3, (extract(epoch FROM clock_timestamp()) * 1000)::int8) ON CONFLICT DO NOTHING`,
			[name, part, body],
		);
	}
}

/** Returns the body from its parts; the caller checks that it is complete. */
export async function readBody(sql: SQL, name: string): Promise<Uint8Array> {
	const rows = await sql.unsafe("SELECT body FROM idempotency_bodies WHERE file = $1 ORDER BY part", [name]);
	return Buffer.concat([...rows].map((row: { body: Uint8Array }) => row.body));
}

function keptPart(text: string): StoredAnswerPart | undefined {
	try {
		const record = JSON.parse(text) as JournalRecord | null;
		return record?.t === "post" ? record.kept : undefined;
	} catch {
		// An unreadable record is left for the application to reject.
		return undefined;
	}
}
