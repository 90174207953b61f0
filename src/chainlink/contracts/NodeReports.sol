// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;

import {CodeChunk} from "./CodeChunk.sol";
import {IFunctionsRouter} from "@chainlink/contracts/src/v0.8/functions/v1_0_0/interfaces/IFunctionsRouter.sol";

interface IOCR2Config {
  function latestConfigDetails() external view returns (uint32 configCount, uint32 blockNumber, bytes32 configDigest);
}

/**
 * Checks that reports are signed by the nodes that FunctionsCoordinator is configured with. That contract tells nobody its
 * signers, but the digest of its configuration is a hash of them: whoever shows what hashes to it has shown the signers.
 */
abstract contract NodeReports {
  /// Reports are taken from the nodes of this configuration from now on.
  event NodesAdopted(bytes32 configDigest);

  /// The bytes are not what the coordinator's configuration digest is the hash of.
  error NotTheConfiguration(bytes32 have, bytes32 want);
  /// A report is not signed by exactly ⌊(n + f) / 2⌋ + 1 of the n nodes, in the order of the configuration; or none is adopted.
  error NotSigned();

  /// First of the words that are signed, so that no other signature of a node can pass for one of these.
  bytes32 internal constant REPORT_TAG = keccak256("tyche.PresetReport.v1");
  /// OCR2Base._configDigestFromConfigData: the first two bytes of a digest are a version.
  bytes32 private constant DIGEST_VERSION = bytes32(uint256(1) << 240);
  uint256 private constant SIGNATURE_BYTES = 66;

  address public immutable FUNCTIONS_ROUTER;
  bytes32 public immutable DON_ID;

  /// configDigest ‖ uint8 f ‖ 20 bytes for each signer.
  address private s_nodes;

  constructor(address functionsRouter, bytes32 donId) {
    FUNCTIONS_ROUTER = functionsRouter;
    DON_ID = donId;
  }

  /**
   * Takes over the nodes of the coordinator's current configuration. Anybody may call it.
   *
   * @param config what OCR2Base hashes: abi.encode(uint256 chainId, address coordinator, uint64 configCount,
   * address[] signers, address[] transmitters, uint8 f, bytes onchainConfig, uint64 offchainConfigVersion,
   * bytes offchainConfig)
   */
  function adoptNodes(bytes calldata config) external {
    address coordinator = IFunctionsRouter(FUNCTIONS_ROUTER).getContractById(DON_ID);
    (, , bytes32 want) = IOCR2Config(coordinator).latestConfigDetails();
    bytes32 have = (keccak256(config) & bytes32(type(uint256).max >> 16)) | DIGEST_VERSION;
    if (have != want) revert NotTheConfiguration(have, want);
    (, , , address[] memory signers, , uint8 f, , , ) = abi.decode(
      config,
      (uint256, address, uint64, address[], address[], uint8, bytes, uint64, bytes)
    );
    bytes memory nodes = abi.encodePacked(want, f);
    for (uint256 i = 0; i < signers.length; ++i) nodes = abi.encodePacked(nodes, signers[i]);
    s_nodes = CodeChunk.store(nodes);
    emit NodesAdopted(want);
  }

  /// The nodes that reports are taken from, and how many of them may be faulty; none before any are adopted.
  function adoptedNodes() external view returns (bytes32 configDigest, uint8 f, address[] memory signers) {
    if (s_nodes == address(0)) return (0, 0, signers);
    bytes memory nodes = CodeChunk.read(s_nodes);
    (configDigest, f) = (bytes32(nodes), uint8(nodes[32]));
    signers = new address[]((nodes.length - 33) / 20);
    for (uint256 i = 0; i < signers.length; ++i) signers[i] = _signerAt(nodes, i);
  }

  /**
   * Reverts unless enough nodes have signed keccak256(abi.encode(REPORT_TAG, chain id, this contract, configDigest,
   * keccak256(report))).
   *
   * @param signatures of different nodes, ordered by them: uint8 index of the node ‖ bytes32 r ‖ bytes32 s ‖ uint8 v each,
   * v being 27 or 28
   */
  function _requireSigned(bytes calldata report, bytes calldata signatures) internal view {
    if (s_nodes == address(0)) revert NotSigned();
    bytes memory nodes = CodeChunk.read(s_nodes);
    uint256 n = (nodes.length - 33) / 20;
    if (signatures.length != ((n + uint8(nodes[32])) / 2 + 1) * SIGNATURE_BYTES) revert NotSigned();
    bytes32 digest = keccak256(abi.encode(REPORT_TAG, block.chainid, this, bytes32(nodes), keccak256(report)));
    uint256 next = 0;
    for (uint256 at = 0; at < signatures.length; at += SIGNATURE_BYTES) {
      uint256 index = uint8(signatures[at]);
      if (index < next || index >= n) revert NotSigned();
      next = index + 1;
      address signer = _signerAt(nodes, index);
      bytes32 r = bytes32(signatures[at + 1:at + 33]);
      bytes32 s = bytes32(signatures[at + 33:at + 65]);
      // No signer is the zero address, which stands for a signature that is none.
      if (signer == address(0) || ecrecover(digest, uint8(signatures[at + 65]), r, s) != signer) revert NotSigned();
    }
  }

  function _signerAt(bytes memory nodes, uint256 index) private pure returns (address signer) {
    assembly {
      signer := shr(96, mload(add(add(nodes, 65), mul(index, 20))))
    }
  }
}
