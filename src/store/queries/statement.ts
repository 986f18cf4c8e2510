/**
 * Reads the statement of one account. An entry is one charge of one sku in one unit, numbered as it was applied
 * (statement-numbers.ts). Any position is found by a few seeks of an index, so a page costs the same at any depth and
 * any length of the journal. Entries are ordered and dated by their application.
 */
import { sql } from "kysely";
import type { MoneySource } from "../../journal/records.ts";
import type { StoreDb } from "../tables.ts";

/** Amounts in nano-USD (nano-diem), prices in pico-USD per unit, times in Unix milliseconds. */
export interface StatementEntry {
	readonly bookedAtMs: number;
	readonly sku: string;
	readonly units: number;
	readonly picoPrice: number;
	readonly amount: number;
	readonly source: MoneySource;
	readonly requestId: string;
	readonly route: string;
	readonly tookMs: number;
	readonly promptTokens: number | null;
	readonly completionTokens: number | null;
}

/** Entries with a number above `after`, up to and including `last`. Numbers start at 1. */
export interface EntryRange {
	readonly after: number;
	readonly last: number;
}

const SOURCES: readonly MoneySource[] = ["usd", "bundled", "diem"];
const COLUMNS = { usd: "entries_usd", bundled: "entries_bundled", diem: "entries_diem" } as const;

/** A post as a position in the statement. */
interface Place {
	readonly postId: number;
	/** Number of its last entry, over the listed units. */
	readonly number: number;
	/** Number of its last entry in the unit by which it was found. */
	readonly ofUnit: number;
	readonly bookedAtMs: number;
}

/** The posts of one unit, ends included. */
interface Lane {
	readonly source: MoneySource;
	readonly first: Place;
	readonly last: Place;
}

/** Values that grow from post to post of an account: the number over all units, the instant of application. */
type OrderedBy = "entries" | "booked_at";

/** A lane from its first position that passes a test. */
interface LanePosition {
	readonly source: MoneySource;
	readonly place: Place;
}

export class Statement {
	readonly #db: StoreDb;
	readonly #accountId: string;
	readonly #currency: MoneySource | null;
	#lanes: readonly Lane[] = [];
	/** The numbers of the last archived entries, over the listed units and in each. */
	#archived: Record<MoneySource, number> & { listed: number } = { usd: 0, bundled: 0, diem: 0, listed: 0 };

	private constructor(db: StoreDb, accountId: string, currency: MoneySource | null) {
		this.#db = db;
		this.#accountId = accountId;
		this.#currency = currency;
	}

	/**
	 * Opens the statement in all units, or in one, from the first entry that is not archived. `db` is a snapshot, so
	 * that all its reads agree.
	 */
	static async open(db: StoreDb, accountId: string, currency: MoneySource | null): Promise<Statement> {
		const statement = new Statement(db, accountId, currency);
		await statement.#readStart();
		const lanes: Lane[] = [];
		for (const source of currency === null ? SOURCES : [currency]) {
			// Refunded posts stay in the store; in the statement they are archived with the others.
			const first = await statement.#placeFrom(source, statement.#archived[source] + 1);
			const last = await statement.#lastPlace(source);
			if (first !== null && last !== null) lanes.push({ source, first, last });
		}
		statement.#lanes = lanes;
		return statement;
	}

	/** Returns the entries applied from `fromMs` on and before `toMs`; null leaves a side open. */
	async range(fromMs: number | null, toMs: number | null): Promise<EntryRange> {
		const after = await this.#numberBefore(fromMs ?? Number.NEGATIVE_INFINITY);
		const last = toMs === null ? this.#lastNumber() : await this.#numberBefore(toMs);
		return { after, last: Math.max(after, last) };
	}

	/** Returns the first `limit` entries of a range, ascending. Archived ones are left out. */
	async read({ after, last }: EntryRange, limit: number): Promise<StatementEntry[]> {
		const range = { after: Math.max(after, this.#archived.listed), last };
		const entryCount = Math.min(limit, range.last - range.after);
		if (entryCount <= 0) return [];
		const found = await this.#findNumber(range.after + 1);
		const start = earliest(found);
		if (start === null) return [];
		// A range may begin in the middle of a post: the part before it is read and dropped.
		const skipped = range.after - (start.number - (await this.#entriesOf(start)));
		const rows: EntryRow[] = [];
		for (const { source, place } of found) rows.push(...(await this.#rowsFrom(source, place, skipped + entryCount)));
		rows.sort((a, b) => Number(a.post_id) - Number(b.post_id) || Number(a.movement_id) - Number(b.movement_id));
		return rows.slice(skipped, skipped + entryCount).map(entryOf);
	}

	/** Numbers up to this one are archived. */
	get archived(): number {
		return this.#archived.listed;
	}

	async #readStart(): Promise<void> {
		const row = await this.#db
			.selectFrom("statement_starts")
			.select(SOURCES)
			.where("account_id", "=", this.#accountId)
			.executeTakeFirst();
		if (row === undefined) return;
		const [usd, bundled, diem] = [Number(row.usd), Number(row.bundled), Number(row.diem)];
		const ofUnit = { usd, bundled, diem };
		this.#archived = { ...ofUnit, listed: this.#currency === null ? usd + bundled + diem : ofUnit[this.#currency] };
	}

	#lastNumber(): number {
		return Math.max(this.#archived.listed, ...this.#lanes.map((lane) => lane.last.number));
	}

	/** Returns the number of the last entry applied before an instant. */
	async #numberBefore(ms: number): Promise<number> {
		const next = earliest(await this.#find("booked_at", ms));
		return next === null ? this.#lastNumber() : next.number - (await this.#entriesOf(next));
	}

	async #findNumber(number: number): Promise<LanePosition[]> {
		const [only, ...otherLanes] = this.#lanes;
		if (only === undefined || otherLanes.length > 0) return this.#find("entries", number);
		// Archived entries of other units have numbers too.
		if (this.#archived.listed !== this.#archived[only.source]) return this.#find("entries", number);
		const place = await this.#placeFrom(only.source, number);
		return place === null ? [] : [{ source: only.source, place }];
	}

	/**
	 * Returns each lane's first position with at least this value, which grows from post to post; lanes without one are
	 * left out.
	 */
	async #find(by: OrderedBy, least: number): Promise<LanePosition[]> {
		const found: LanePosition[] = [];
		for (const lane of this.#lanes) {
			const place = await this.#findIn(lane, by, least);
			if (place !== null) found.push({ source: lane.source, place });
		}
		return found;
	}

	async #findIn({ source, first, last }: Lane, by: OrderedBy, least: number): Promise<Place | null> {
		const passes = (place: Place) => (by === "entries" ? place.number : place.bookedAtMs) >= least;
		if (passes(first)) return first;
		if (!passes(last)) return null;
		const column = sql.ref(COLUMNS[source]);
		const middle = sql`(failing + passing) / 2`;
		const found = sql`(SELECT ${sql.ref(by)} FROM posts WHERE account_id = ${this.#accountId} AND ${column} >= ${middle}
			ORDER BY ${column} LIMIT 1) >= ${least}`;
		// Bisects, inside the database, between a number whose post fails and one whose post passes.
		const { rows } = await sql<{ passing: bigint }>`
			WITH RECURSIVE search (failing, passing) AS (
				SELECT CAST(${first.ofUnit} AS BIGINT), CAST(${last.ofUnit} AS BIGINT)
				UNION ALL
				SELECT CASE WHEN ${found} THEN failing ELSE ${middle} END, CASE WHEN ${found} THEN ${middle} ELSE passing END
				FROM search WHERE passing - failing > 1
			) SELECT passing FROM search ORDER BY passing - failing LIMIT 1`.execute(this.#db);
		return this.#placeFrom(source, Number(rows[0]?.passing ?? last.ofUnit));
	}

	/** Returns the first post of a unit with a number of at least `number`. */
	async #placeFrom(source: MoneySource, number: number): Promise<Place | null> {
		return this.#placeOf(await this.#places(source).where(COLUMNS[source], ">=", BigInt(number)).executeTakeFirst());
	}

	async #lastPlace(source: MoneySource): Promise<Place | null> {
		const places = this.#places(source, "desc").where(COLUMNS[source], "is not", null);
		return this.#placeOf(await places.executeTakeFirst());
	}

	#places(source: MoneySource, direction: "asc" | "desc" = "asc") {
		const column = COLUMNS[source];
		return this.#db
			.selectFrom("posts")
			.select(["id", "booked_at", "entries", `${column} as of_unit`])
			.where("account_id", "=", this.#accountId)
			.orderBy(column, direction)
			.limit(1);
	}

	#placeOf(row: { id: bigint; booked_at: bigint; entries: bigint | null; of_unit: bigint | null } | undefined): Place | null {
		if (row === undefined) return null;
		const ofUnit = Number(row.of_unit);
		return {
			postId: Number(row.id),
			number: this.#currency === null ? Number(row.entries) : ofUnit,
			ofUnit,
			bookedAtMs: Number(row.booked_at),
		};
	}

	/** Returns how many entries of a post are listed. */
	async #entriesOf(place: Place): Promise<number> {
		let query = this.#db
			.selectFrom("movements")
			.select((select) => select.fn.countAll<bigint>().as("entries"))
			.where("post_id", "=", BigInt(place.postId))
			.where("kind", "=", "charge");
		if (this.#currency !== null) query = query.where("unit", "=", this.#currency);
		return Number((await query.executeTakeFirstOrThrow()).entries);
	}

	#rowsFrom(source: MoneySource, place: Place, limit: number): Promise<EntryRow[]> {
		const column = COLUMNS[source];
		return this.#db
			.selectFrom("posts")
			.innerJoin("movements", "movements.post_id", "posts.id")
			.select([
				"movements.post_id",
				"movements.id as movement_id",
				"movements.booked_at",
				"movements.sku",
				"movements.units",
				"movements.pico_price",
				"movements.amount",
				"movements.unit",
				"posts.request_id",
				"posts.route",
				"posts.admitted_at",
				"posts.done_at",
				"posts.prompt_tokens",
				"posts.completion_tokens",
			])
			.where("posts.account_id", "=", this.#accountId)
			.where(`posts.${column}`, ">=", BigInt(place.ofUnit))
			.where("movements.kind", "=", "charge")
			.where("movements.unit", "=", source)
			.orderBy(`posts.${column}`)
			.orderBy("movements.id")
			.limit(limit)
			.execute();
	}
}

interface EntryRow {
	readonly post_id: bigint | null;
	readonly movement_id: bigint;
	readonly booked_at: bigint;
	readonly sku: string | null;
	readonly units: bigint | null;
	readonly pico_price: bigint | null;
	readonly amount: bigint;
	readonly unit: MoneySource;
	readonly request_id: string;
	readonly route: string;
	readonly admitted_at: bigint;
	readonly done_at: bigint;
	readonly prompt_tokens: bigint | null;
	readonly completion_tokens: bigint | null;
}

function entryOf(row: EntryRow): StatementEntry {
	return {
		bookedAtMs: Number(row.booked_at),
		sku: row.sku ?? "",
		units: Number(row.units),
		picoPrice: Number(row.pico_price),
		amount: Number(row.amount),
		source: row.unit,
		requestId: row.request_id,
		route: row.route,
		tookMs: Math.max(0, Number(row.done_at) - Number(row.admitted_at)),
		promptTokens: row.prompt_tokens === null ? null : Number(row.prompt_tokens),
		completionTokens: row.completion_tokens === null ? null : Number(row.completion_tokens),
	};
}

/** Returns the position that was applied first. Posts are numbered in the order of application. */
function earliest(found: readonly LanePosition[]): Place | null {
	let best: Place | null = null;
	for (const { place } of found) if (best === null || place.number < best.number) best = place;
	return best;
}
