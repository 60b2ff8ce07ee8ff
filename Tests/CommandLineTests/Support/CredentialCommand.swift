import Foundation
import TestSupport

extension CommandLineTool {
    /// Runs `counterfoil credential` with a request on standard input, as another program does.
    static func credential(
        _ arguments: String..., request: String = "", home: URL, environment: [String: String] = [:]
    ) async throws -> Outcome {
        let file = home.appendingPathComponent("request-\(UUID().uuidString)")
        try Data(request.utf8).write(to: file)
        let input = try FileHandle(forReadingFrom: file)
        defer { try? input.close() }
        return try await run(
            ["credential"] + arguments, home: home, environment: environment, input: input.fileDescriptor)
    }
}
