import { testErasure } from "../testing/erase-contract.ts";
import { testRetention } from "../testing/retention-contract.ts";
import { StoreFolder } from "../testing/store-folder.ts";

testRetention(() => new StoreFolder());
testErasure(() => new StoreFolder());
