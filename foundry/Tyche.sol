// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;

/// An embedded network of the service on this machine. What is sent through it is mined on its chain, where the oracle sees it; the fork that a
/// test reads follows that chain.
struct Tyche {
  string network;
  // Of the transactions; one of the ten accounts that have coin on every embedded chain. At first the last: wallets and scripts send from the first.
  address sender;
}

using {deploy, link, send, sendValue, words, functionResult} for Tyche global;

/// Selects a fork of the network with this name.
function connectTyche(string memory network) returns (Tyche memory) {
  string memory list = run("npx --no -- tyche network list --json");
  string memory url = string.concat("$[?(@.name == '", network, "')].rpcUrl");
  require(VM.keyExistsJson(list, url), string.concat("Tyche: the service has no embedded network ", network));
  VM.createSelectFork(VM.parseJsonString(list, url));
  return Tyche(network, 0xa0Ee7A142d267C1f36714E4a8F75612F20a79720);
}

/// Deploys a contract. `code`: its creation code with its encoded arguments.
function deploy(Tyche memory self, bytes memory code) returns (address deployed) {
  (, uint256 nonce) = transact(self.sender, string.concat('"data":"', VM.toString(code), '"'));
  deployed = VM.computeCreateAddress(self.sender, nonce);
  require(deployed.code.length > 0, "Tyche: the deployment reverted");
}

/// Links a contract to the dapp's subscriptions: its requests are answered and paid for from then on.
function link(Tyche memory self, address consumer) {
  run(string.concat("npx --no -- tyche consumer add ", VM.toString(consumer), " --network ", self.network));
  follow();
}

/// Sends a transaction from an account that has coin and returns its hash; reverts if the transaction would.
function send(Tyche memory self, address to, bytes memory data) returns (bytes32 transactionHash) {
  return sendValue(self, to, data, 0);
}

/// Does the same with a value, in wei.
function sendValue(Tyche memory self, address to, bytes memory data, uint256 value) returns (bytes32 transactionHash) {
  (transactionHash, ) = transact(
    self.sender,
    string.concat(
      '"to":"', VM.toString(to), '","value":"', VM.toString(bytes32(value)), '","data":"', VM.toString(data), '"'
    )
  );
}

/// Returns the random words that a contract requested in a transaction, and the request's id, once its callback has had them; reverts with the
/// reason if it fails.
function words(Tyche memory self, bytes32 transactionHash) returns (uint256[] memory randomWords, uint256 requestId) {
  string memory request = wait(self, transactionHash, "random");
  return (VM.parseJsonUintArray(request, ".words"), VM.parseJsonUint(request, ".requestId"));
}

/// Returns the bytes that a contract's function returned, and the request's id, once its callback has had them; reverts with the function's
/// error if it fails.
function functionResult(Tyche memory self, bytes32 transactionHash) returns (bytes memory response, bytes32 requestId) {
  string memory request = wait(self, transactionHash, "function");
  return (VM.parseJsonBytes(request, ".response"), VM.parseJsonBytes32(request, ".requestId"));
}

// InvalidConsumer of the coordinators of VRF v2 and v2.5 and of the router of functions, as forge prints them.
string constant NOT_LINKED_V2 = "0xf0019fe6";
string constant NOT_LINKED_V2_5 = "0x79bfd401";
string constant NOT_LINKED_FUNCTIONS = "0x71e83137";

function wait(Tyche memory self, bytes32 transactionHash, string memory kind) returns (string memory request) {
  request = run(
    string.concat(
      "npx --no -- tyche consumer wait ", VM.toString(transactionHash), " --kind ", kind, " --network ", self.network, " --json"
    )
  );
  follow();
}

function transact(address sender, string memory fields) returns (bytes32 transactionHash, uint256 nonce) {
  // One price for all: none replaces another test's transaction in the pool.
  fields = string.concat('{"from":"', VM.toString(sender), '","gasPrice":"0x4a817c800",', fields);
  // Anvil mines what reverts.
  try VM.rpc("eth_call", string.concat("[", fields, '},"latest"]')) {} catch (bytes memory reason) {
    require(!saysNotLinked(string(reason)), "Tyche: the contract is not linked: tyche.link(address)");
    rethrow(reason);
  }
  // Tests run at once: what another one links makes a request dearer than it was estimated.
  uint256 gas = 2 * toUint(VM.rpc("eth_estimateGas", string.concat("[", fields, "}]")));
  while (transactionHash == 0) {
    nonce = pendingNonce(sender);
    string memory params = string.concat(
      "[", fields, ',"gas":', VM.toString(gas), ',"nonce":', VM.toString(nonce), "}]"
    );
    try VM.rpc("eth_sendTransaction", params) returns (bytes memory hash) {
      transactionHash = bytes32(hash);
    } catch (bytes memory reason) {
      // Tests run at once: another one may have taken the nonce.
      if (pendingNonce(sender) == nonce) rethrow(reason);
    }
  }
  // Anvil's counter of transactions is ahead of its newest block for a moment; a receipt is not.
  string memory mined = string.concat('["', VM.toString(transactionHash), '"]');
  while (VM.rpc("eth_getTransactionReceipt", mined).length == 32) VM.sleep(20);
  follow();
}

function saysNotLinked(string memory reason) pure returns (bool) {
  return contains(reason, NOT_LINKED_V2) || contains(reason, NOT_LINKED_V2_5) || contains(reason, NOT_LINKED_FUNCTIONS);
}

function contains(string memory text, string memory part) pure returns (bool) {
  return VM.indexOf(text, part) != type(uint256).max;
}

function rethrow(bytes memory reason) pure {
  assembly {
    revert(add(reason, 32), mload(reason))
  }
}

/// Moves the fork to the chain's newest block.
function follow() {
  VM.rollFork(toUint(VM.rpc("eth_blockNumber", "[]")));
}

function pendingNonce(address sender) returns (uint256) {
  return toUint(VM.rpc("eth_getTransactionCount", string.concat('["', VM.toString(sender), '","pending"]')));
}

function toUint(bytes memory quantity) pure returns (uint256) {
  return uint256(bytes32(quantity)) >> (256 - 8 * quantity.length);
}

function run(string memory command) returns (string memory) {
  return string(VM.ffi(VM.split(command, " ")));
}

/// The cheatcodes that this file uses.
interface Cheatcodes {
  function computeCreateAddress(address deployer, uint256 nonce) external pure returns (address);
  function createSelectFork(string calldata url) external returns (uint256);
  function ffi(string[] calldata command) external returns (bytes memory);
  function indexOf(string calldata text, string calldata part) external pure returns (uint256);
  function keyExistsJson(string calldata json, string calldata key) external view returns (bool);
  function parseJsonBytes(string calldata json, string calldata key) external pure returns (bytes memory);
  function parseJsonBytes32(string calldata json, string calldata key) external pure returns (bytes32);
  function parseJsonString(string calldata json, string calldata key) external pure returns (string memory);
  function parseJsonUint(string calldata json, string calldata key) external pure returns (uint256);
  function parseJsonUintArray(string calldata json, string calldata key) external pure returns (uint256[] memory);
  function rollFork(uint256 blockNumber) external;
  function rpc(string calldata method, string calldata params) external returns (bytes memory);
  function sleep(uint256 milliseconds) external;
  function split(string calldata text, string calldata delimiter) external pure returns (string[] memory);
  function toString(address value) external pure returns (string memory);
  function toString(bytes calldata value) external pure returns (string memory);
  function toString(bytes32 value) external pure returns (string memory);
  function toString(uint256 value) external pure returns (string memory);
}

Cheatcodes constant VM = Cheatcodes(address(uint160(uint256(keccak256("hevm cheat code")))));
