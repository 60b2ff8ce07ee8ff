import CLibFuzzer
import Foundation

/// Throws inputs at one parser, as libFuzzer finds them: `fuzz TARGET [OPTION OF LIBFUZZER]... [CORPUS]...`.
@main
enum Fuzz {
    static func main() {
        guard let name = CommandLine.arguments.dropFirst().first, let target = Target(rawValue: name) else {
            FileHandle.standardError.write(
                Data("fuzz: name a target: \(Target.allCases.map(\.rawValue).joined(separator: ", "))\n".utf8))
            exit(64)
        }
        // The engine wants the name of the program and what follows the target, and keeps both to its end.
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

/// What can be fuzzed.
enum Target: String, CaseIterable {
    /// The answer at a redirect URI.
    case callback
    /// What a person pastes.
    case pasted
    /// `WWW-Authenticate`.
    case challenge
    /// The metadata of an authorization server.
    case metadata
    /// The metadata of an API.
    case resourceMetadata = "resource-metadata"

    /// What the engine calls with each input.
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
        }
    }
}

private func bytes(_ data: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
    Array(UnsafeBufferPointer(start: data, count: count))
}
