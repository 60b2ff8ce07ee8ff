import ArgumentParser
import CounterfoilClient
import Foundation

/// The output of a command: results on standard output, everything else on standard error.
///
/// Control characters are removed from every line, because its text may come from a server.
struct CommandOutput: Sendable {
    let writesJSON: Bool
    let isVerbose: Bool

    /// Writes a result as a line.
    func result(_ line: String) {
        Self.write(Array((line.strippingControlCharacters + "\n").utf8), to: .standardOutput)
    }

    /// Writes a result as JSON.
    func result(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        Self.write(Array(try encoder.encode(value)) + [UInt8(ascii: "\n")], to: .standardOutput)
    }

    /// Writes the response body of an API.
    ///
    /// On a terminal, control characters except line feeds and tabs are removed. A file or pipe gets every byte.
    func result(bytes: [UInt8]) {
        guard isatty(STDOUT_FILENO) == 1 else { return Self.write(bytes, to: .standardOutput) }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let shown = lines.map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map { cell in
                String(cell).strippingControlCharacters
            }.joined(separator: "\t")
        }
        Self.write(Array((shown.joined(separator: "\n") + "\n").utf8), to: .standardOutput)
    }

    /// Writes a message to standard error.
    func say(_ line: String) {
        Self.write(Array((line.strippingControlCharacters + "\n").utf8), to: .standardError)
    }

    /// Writes a message to standard error if --verbose is set.
    func detail(_ line: @autoclosure () -> String) {
        if isVerbose { say("counterfoil: \(line())") }
    }

    /// Runs a command; if it fails, writes the error to standard error and throws the exit code.
    func run(_ command: () async throws -> Void) async throws {
        do {
            try await command()
        } catch let failure as Failure {
            throw report(failure)
        } catch let error as SignInError {
            throw report(Failure(error))
        } catch let error as SessionError {
            throw report(Failure(error))
        } catch let error as TokenStoreError {
            throw report(Failure(error))
        } catch let failure as TransportFailure {
            throw report(Failure(SignInError(failure)))
        } catch let refusal as ResourceClient.Refusal {
            throw report(Failure(.usage, "\(refusal)"))
        }
    }

    private func report(_ failure: Failure) -> ExitCode {
        struct Report: Encodable {
            let error: String
            let exit_code: Int32
            let message: String
        }
        let sentence = failure.sentence.strippingControlCharacters
        if writesJSON {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let report = Report(error: failure.status.name, exit_code: failure.status.rawValue, message: sentence)
            say((try? encoder.encode(report)).map { String(decoding: $0, as: UTF8.self) } ?? sentence)
        } else {
            say("Error: \(sentence)")
        }
        return ExitCode(failure.status.rawValue)
    }

    private static func write(_ bytes: [UInt8], to handle: FileHandle) {
        // The write fails if the reader has closed the pipe. Ignore the failure, because nothing reads the output then.
        try? handle.write(contentsOf: Data(bytes))
    }
}
