import CLibFuzzer
import Foundation

/// Runs libFuzzer on one parser: `fuzz TARGET [OPTION OF LIBFUZZER]... [CORPUS]...`.
@main
enum Fuzz {
    static func main() {
        guard let name = CommandLine.arguments.dropFirst().first, let target = Target(rawValue: name) else {
            FileHandle.standardError.write(
                Data("fuzz: name a target: \(Target.allCases.map(\.rawValue).joined(separator: ", "))\n".utf8))
            exit(64)
        }
        // The engine takes the program name and the arguments after the target, and keeps the pointers until it ends.
        var arguments = (CommandLine.arguments.prefix(1) + CommandLine.arguments.dropFirst(2)).map { strdup($0) }
        var count = Int32(arguments.count)
        arguments.append(nil)
        let ended = arguments.withUnsafeMutableBufferPointer { buffer in
            var start = buffer.baseAddress
            return LLVMFuzzerRunDriver(&count, &start, target.callback)
        }
        exit(ended)
    }
}

/// A parser to fuzz.
enum Target: String, CaseIterable {
    /// The authorization response at a redirect URI.
    case callback
    /// Text that a user pastes.
    case pasted
    /// `WWW-Authenticate`.
    case challenge
    /// The metadata of an authorization server.
    case metadata
    /// The metadata of an API.
    case resourceMetadata = "resource-metadata"
    /// A DPoP proof.
    case proof
    /// The response of a passkey.
    case webauthn

    /// The function that the engine calls with each input.
    var callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32 {
        switch self {
        case .callback:
            { data, count in
                CallbackTarget.examine(bytes(data, count))
                return 0
            }
        case .pasted:
            { data, count in
                PastedTarget.examine(bytes(data, count))
                return 0
            }
        case .challenge:
            { data, count in
                ChallengeTarget.examine(bytes(data, count))
                return 0
            }
        case .metadata:
            { data, count in
                MetadataTarget.examine(bytes(data, count))
                return 0
            }
        case .resourceMetadata:
            { data, count in
                ResourceMetadataTarget.examine(bytes(data, count))
                return 0
            }
        case .proof:
            { data, count in
                ProofTarget.examine(bytes(data, count))
                return 0
            }
        case .webauthn:
            { data, count in
                WebAuthnTarget.examine(bytes(data, count))
                return 0
            }
        }
    }
}

private func bytes(_ data: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
    Array(UnsafeBufferPointer(start: data, count: count))
}
