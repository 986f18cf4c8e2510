import { StoreFolder } from "../store/testing/store-folder.ts";
import { testIdempotency } from "./testing/idempotency-contract.ts";

testIdempotency(() => new StoreFolder());
