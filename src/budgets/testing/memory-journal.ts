import type { Journal, JournalRecord, PostRecord, WorkRefusal } from "../../journal/records.ts";

/** Groups the records of one turn, as the real journal does: the group is closed by the next macrotask. */
export class MemoryJournal implements Journal {
	readonly groups: { readonly seq: number; readonly records: JournalRecord[] }[] = [];
	writtenSeq = 0;
	appliedSeq = 0;
	backlogBytes = 0;
	full: WorkRefusal | null = null;
	#open = false;

	append(record: JournalRecord): Promise<void> {
		if (!this.#open) {
			this.#open = true;
			this.groups.push({ seq: ++this.writtenSeq, records: [] });
			setImmediate(() => {
				this.#open = false;
			});
		}
		this.groups.at(-1)?.records.push(record);
		return Promise.resolve();
	}

	/** Writes what this turn has gathered so far, as a call of the store does. */
	flush(): void {
		this.#open = false;
	}

	workRefusal(): WorkRefusal | null {
		return this.full;
	}

	close(): Promise<void> {
		return Promise.resolve();
	}

	get posts(): PostRecord[] {
		return this.groups.flatMap((group) => group.records.filter((record) => record.t === "post"));
	}
}
