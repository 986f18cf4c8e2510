/** A process that applies one batch, and kills itself before a numbered statement, or after its answer. */
import { Database } from "bun:sqlite";
import { postgresStore, sqliteStore } from "./compared-stores.ts";
import { preparedBatch } from "./prepared-batch.ts";

const [kind = "", place = "", at = "0"] = process.argv.slice(2);
/** An even number: before a statement; an odd one: after its answer. */
let left = Number(at);
let armed = false;

function step(): void {
	if (armed && left-- === 0) process.kill(process.pid, "SIGKILL");
}

/** Makes each call of a method a step before it, and one after its answer. */
function interrupt(prototype: Record<string, (...args: never[]) => unknown>, name: string): void {
	const method = prototype[name];
	if (method === undefined) throw new Error(`there is no ${name}`);
	prototype[name] = function (this: unknown, ...args: never[]) {
		step();
		const answer = method.apply(this, args);
		if (answer instanceof Promise || typeof (answer as PromiseLike<unknown> | null)?.then === "function") {
			void (answer as PromiseLike<unknown>).then(step, () => {});
		} else step();
		return answer;
	};
}

const { groups } = preparedBatch();
if (kind === "sqlite") {
	interrupt(Database.prototype as never, "run");
	const { prepare } = Database.prototype;
	Database.prototype.prepare = function (this: Database, ...args: Parameters<typeof prepare>) {
		const statement = prepare.apply(this, args);
		for (const name of ["run", "get", "all"]) interrupt(statement as never, name);
		return statement;
	} as typeof prepare;
	const store = sqliteStore(place);
	armed = true;
	await store.apply(groups);
} else {
	const store = await postgresStore(place, (connection) => interrupt(connection as never, "unsafe"));
	armed = true;
	await store.apply(groups);
}
armed = false;
process.exit(0);
