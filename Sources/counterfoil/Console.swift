import ArgumentParser
import CounterfoilClient
import Foundation

/// Where a command's words go: results to standard output, everything else to standard error.
///
/// What comes from a server is stripped of control characters on its way.
struct Console: Sendable {
    let writesJSON: Bool
    let isVerbose: Bool

    /// Writes a result as a line.
    func result(_ line: String) {
        Self.write(Array((line.strippingControlCharacters + "\n").utf8), to: .standardOutput)
    }

    /// Writes a result for machines.
    func result(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        Self.write(Array(try encoder.encode(value)) + [UInt8(ascii: "\n")], to: .standardOutput)
    }

    /// Writes the bytes of an API's answer; on a terminal only those that cannot steer it.
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

    /// Tells the person what happens.
    func say(_ line: String) {
        Self.write(Array((line.strippingControlCharacters + "\n").utf8), to: .standardError)
    }

    /// Tells the person more, when they asked for it.
    func detail(_ line: @autoclosure () -> String) {
        if isVerbose { say("counterfoil: \(line())") }
    }

    /// Runs a command; a failure becomes its sentence and its exit code.
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
        // Whoever read the output may have gone; there is nobody left to tell.
        try? handle.write(contentsOf: Data(bytes))
    }
}
