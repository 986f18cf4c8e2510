import { testAdmin } from "../testing/admin-contract.ts";
import { StoreFolder } from "../testing/store-folder.ts";

testAdmin(() => new StoreFolder());
