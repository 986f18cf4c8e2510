/** The highest timeline of each PostgreSQL cluster that a node wrote to, so that a start knows it too: `DATA/timelines.json`. */
import { join } from "node:path";
import { readJson, writeJsonDurably } from "./json-file.ts";
import { RememberedTimelines } from "./primary.ts";

export class TimelineFile extends RememberedTimelines {
	readonly #path: string;

	constructor(dataDir: string) {
		super();
		this.#path = join(dataDir, "timelines.json");
		for (const [cluster, timeline] of Object.entries(readJson<number>(this.#path))) super.note(cluster, timeline);
	}

	/** Returns after the file is on the disk: a restart must not go back. */
	override note(cluster: string, timeline: number): void {
		if (timeline <= this.highest(cluster)) return;
		super.note(cluster, timeline);
		writeJsonDurably(this.#path, { ...readJson<number>(this.#path), [cluster]: timeline });
	}
}
