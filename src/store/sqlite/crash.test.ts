import { testCrashes } from "../testing/crash-contract.ts";
import { StoreFolder } from "../testing/store-folder.ts";

testCrashes(() => new StoreFolder());
