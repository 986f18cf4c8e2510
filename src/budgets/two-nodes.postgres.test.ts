import { join } from "node:path";
import { startPostgres } from "../../test/support/postgres-cluster.ts";
import { openStore } from "../store/index.ts";
import { testTwoNodes } from "./testing/two-nodes-contract.ts";

testTwoNodes(async (dir) => {
	const cluster = await startPostgres();
	const postgres = await cluster.newDatabase();
	const journal = { minFreeDiskBytes: 0, segmentBytes: 1 << 20 };
	return {
		place: postgres,
		openNode: (node) => openStore({ dataDir: join(dir, String(node)), postgres, journal }),
		close: () => cluster.stop(),
	};
});
