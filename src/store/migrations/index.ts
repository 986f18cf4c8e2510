/** The migrations of the store, in their order; each under one number for both databases. */
import type { Migration } from "../core/migration.ts";
import { books } from "./0001-books.ts";
import { exceededLimits } from "./0002-exceeded-limits.ts";
import { debitsAndRefunds } from "./0003-debits-and-refunds.ts";
import { chainStakes } from "./0004-chain-stakes.ts";
import { minuteWindows } from "./0005-minute-windows.ts";
import { chainProxy } from "./0006-chain-proxy.ts";
import { retention } from "./0007-retention.ts";
import { wallets } from "./0008-wallets.ts";
import { topUps } from "./0009-top-ups.ts";
import { voices } from "./0010-voices.ts";
import { capLeases } from "./0011-cap-leases.ts";
import { consoleSessions } from "./0012-console.ts";
import { upstreamVoices } from "./0013-upstream-voices.ts";
import { alerts } from "./0014-alerts.ts";
import { workers } from "./0015-workers.ts";
import { cheaperPosts } from "./0016-cheaper-posts.ts";

export const MIGRATIONS: readonly Migration[] = [
	books,
	exceededLimits,
	debitsAndRefunds,
	chainStakes,
	minuteWindows,
	chainProxy,
	retention,
	wallets,
	topUps,
	voices,
	capLeases,
	consoleSessions,
	upstreamVoices,
	alerts,
	workers,
	cheaperPosts,
];
