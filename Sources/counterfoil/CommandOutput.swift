import ArgumentParser
import CounterfoilClient
import CounterfoilPlatform

/// The output of a command: results on standard output, everything else on standard error.
///
/// Control characters are removed from every line, and escaped in JSON, because text may come from a server.
struct CommandOutput: Sendable {
    let writesJSON: Bool
    let isVerbose: Bool
    /// The failure with which ``run(_:)`` ends before the command begins; nil if there is none.
    var refusal: Failure?

    /// Writes a result as a line.
    func result(_ line: String) throws(Failure) {
        try StandardStreams.write(Array((line.strippingControlCharacters + "\n").utf8))
    }

    /// Writes a result as JSON.
    func result(_ value: some Encodable) throws {
        try StandardStreams.write(Self.json(value, .prettyPrinted) + [UInt8(ascii: "\n")])
    }

    /// Writes a result as JSON in one line, for protocols that other programs define.
    func result(compact value: some Encodable) throws {
        try StandardStreams.write(Self.json(value) + [UInt8(ascii: "\n")])
    }

    /// Writes the response body of an API as it arrives.
    ///
    /// On a terminal, control characters except line feeds and tabs are removed. A file or pipe gets every byte. If the
    /// reader has closed the pipe, the function throws the exit code of a program that SIGPIPE ended.
    func result(_ body: StreamedBody) async throws {
        var text = isatty(STDOUT_FILENO) == 1 ? TerminalText() : nil
        do {
            for try await part in body {
                guard try StandardStreams.write(text?.shown(part) ?? part) else { throw ExitCode(128 + SIGPIPE) }
            }
        } catch let failure as TransportFailure {
            try StandardStreams.write(text?.end() ?? [])
            let reason = Failure(any: failure)
            throw reason.saying("the response is incomplete: \(reason.sentence)")
        }
        try StandardStreams.write(text?.end() ?? [])
    }

    /// Writes a message to standard error; a message that cannot be written is lost.
    func say(_ line: String) {
        StandardStreams.writeError(Array((line.strippingControlCharacters + "\n").utf8))
    }

    /// Writes a drawing of this program to standard error, with its escape sequences.
    func draw(_ lines: [String]) {
        StandardStreams.writeError(Array((lines.joined(separator: "\n") + "\n").utf8))
    }

    /// Writes a message to standard error if --verbose is set.
    func detail(_ line: @autoclosure () -> String) {
        if isVerbose { say("counterfoil: \(line())") }
    }

    /// Runs a command; if it fails, writes the error to standard error and throws the exit code.
    func run(_ command: () async throws -> Void) async throws {
        do {
            if let refusal { throw refusal }
            try await command()
        } catch let code as ExitCode {
            throw code
        } catch {
            throw report(Failure(any: error))
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
            let report = Report(error: failure.status.name, exit_code: failure.exitCode, message: sentence)
            say((try? Self.json(report)).map { String(decoding: $0, as: UTF8.self) } ?? sentence)
        } else {
            say("Error: \(sentence)")
        }
        return ExitCode(failure.exitCode)
    }

    /// Encodes a value as JSON in ASCII.
    ///
    /// A terminal obeys more characters than those that JSON requires to be escaped, such as U+009B, and others reorder
    /// or hide text, such as U+202E. In JSON, these occur in strings only, so escaping them keeps the value.
    private static func json(_ value: some Encodable, _ formatting: JSONEncoder.OutputFormatting = []) throws -> [UInt8]
    {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting.union([.sortedKeys, .withoutEscapingSlashes])
        encoder.dateEncodingStrategy = .iso8601
        var bytes: [UInt8] = []
        for scalar in String(decoding: try encoder.encode(value), as: UTF8.self).unicodeScalars {
            if scalar.isASCII, scalar.value != 0x7F {
                bytes.append(UInt8(truncatingIfNeeded: scalar.value))
            } else if scalar.controlsText {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    bytes += Array("\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
                }
            } else {
                bytes += Array(String(scalar).utf8)
            }
        }
        return bytes
    }
}

extension Failure {
    /// The failure for any error that a command throws.
    init(any error: any Error) {
        self =
            switch error {
            case let failure as Failure: failure
            case let error as SignInError: Failure(error)
            case let error as SessionError: Failure(error)
            case let error as TokenStoreError: Failure(error)
            case let failure as TransportFailure: Failure(SignInError(failure))
            case let refusal as ResourceClient.Refusal: Failure(.usage, "\(refusal)")
            case is CancellationError: Failure(.interrupted, "the command was cancelled")
            default: Failure(.failed, "\(error)")
            }
    }
}
