import Foundation
import Synchronization
import Testing

/// The built `counterfoil`, run as a person or a script runs it.
struct CommandLineTool {
    struct Outcome {
        let status: Int32
        let output: String
        let errors: String
    }

    /// The executable beside the one that runs the tests.
    private static func executable() throws -> URL {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent()
        let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let candidates = [tests, folder].map { $0.appendingPathComponent("counterfoil") }
        return try #require(
            candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) },
            "build it first: swift build --product counterfoil")
    }

    /// Runs it with a home of its own; `onLine` sees each line of standard error as it comes.
    static func run(
        _ arguments: [String],
        home: URL,
        environment: [String: String] = [:],
        onLine: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> Outcome {
        let process = Process()
        process.executableURL = try executable()
        process.arguments = arguments
        process.environment = ["HOME": home.path, "PATH": "/usr/bin:/bin", "COLUMNS": "80"]
            .merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        let (ends, end) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = {
            end.yield($0.terminationStatus); end.finish()
        }
        try process.run()
        async let written = text(of: output)
        async let told = text(of: errors, onLine: onLine)
        let status = await ends.first { _ in true } ?? -1
        return Outcome(status: status, output: await written, errors: await told)
    }

    private static func text(
        of pipe: Pipe, onLine: @escaping @Sendable (String) -> Void = { _ in }
    ) async -> String {
        let (chunks, chunk) = AsyncStream.makeStream(of: Data.self)
        pipe.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            guard data.isEmpty else {
                chunk.yield(data)
                return
            }
            handle.readabilityHandler = nil
            chunk.finish()
        }
        var all = Data()
        var line = Data()
        for await data in chunks {
            all.append(data)
            for byte in data {
                guard byte == UInt8(ascii: "\n") else {
                    line.append(byte)
                    continue
                }
                onLine(String(decoding: line, as: UTF8.self))
                line.removeAll()
            }
        }
        return String(decoding: all, as: UTF8.self)
    }
}
