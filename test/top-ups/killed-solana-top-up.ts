/** A server that is killed while a payment on Solana is under way: it takes the one that it is given. */
import { openAdmin } from "../../src/store/admin.ts";
import { SolanaTopUpService } from "../support/solana-top-up-service.ts";

const { header, ...given } = JSON.parse(process.argv[2] ?? "{}");
await new SolanaTopUpService({ ...given, admin: openAdmin(given.dir) }).topUp(header);
