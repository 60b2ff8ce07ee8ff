public import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
public import CounterfoilTokens
import Foundation

/// `key`: the keys with which tokens are signed.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "The keys with which tokens are signed.",
        subcommands: [List.self, Rotate.self]
    )

    /// `key list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the keys, oldest first, and what each does.",
            discussion: """
                A key is published before it signs, so that everybody has it by then; it signs until its successor does; \
                then it is retired, and stays published until everything that it signed has expired.

                Example:
                  counterfoil-server key list --data-dir ./data
                """
        )

        @OptionGroup var options: AdministrationOptions

        func run() async throws {
            try await options.withDirectory(creating: false) { directory in
                let now = Date()
                let keys = try await directory.store.signingKeys().map { KeyDocument($0, now: now) }
                if options.json { return try Output.json(keys) }
                if keys.isEmpty { return Output.line("There is no key yet; the first start of the server makes them.") }
                for key in keys { Output.line(key.words) }
            }
        }
    }

    /// `key rotate`.
    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make the next key of an algorithm, or of every one.",
            discussion: """
                The server does this by itself when a key is old; see serve --key-lifetime. The new key is published at once \
                and signs after 15 minutes, when everybody has fetched it. The former one stays published until everything that \
                it signed has expired. No token is refused, and a running server needs no restart.

                With --now the new key signs as soon as the running server sees it, within a minute: an API that keeps the keys, \
                and does not fetch them again for one that it does not know refuses tokens until it does.

                With --withdraw the former keys are taken away besides: every token that they signed is refused from then on, \
                and applications have to refresh. That is for a key that has leaked.

                Example:
                  counterfoil-server key rotate --algorithm ES256 --data-dir ./data
                """
        )

        @Option(name: .long, help: "Only the key for this algorithm.")
        var algorithm: SigningAlgorithm?

        @Flag(name: .long, help: "Sign with the new key at once.")
        var now = false

        @Flag(name: .long, help: "Sign with the new key at once, and refuse what the former ones signed.")
        var withdraw = false

        @OptionGroup var options: AdministrationOptions

        func run() async throws {
            try await options.withDirectory(creating: false) { directory in
                let moment = Date()
                let rotation = KeyRotation(directory.store, serverKey: directory.serverKey)
                var made: [KeyDocument] = []
                for algorithm in algorithm.map({ [$0] }) ?? KeyRing.algorithms {
                    let former = try await directory.store.signingKeys().filter { $0.algorithm == algorithm }
                    let beginning = now || withdraw ? KeyRotation.Beginning.atOnce : .afterNotice
                    let key: SealedSigningKey?
                    do { key = try await rotation.rotate(algorithm, beginning, now: moment) } catch let refusal
                        as KeyRing.Refusal
                    {
                        throw CommandFailure.refused("\(refusal)")
                    }
                    guard let key else {
                        throw CommandFailure.mayPass(
                            "somebody else has rotated the key of \(algorithm) meanwhile; see: key list")
                    }
                    await directory.note(.signingKey, detail: "\(algorithm) rotated; the new key is \(key.id)")
                    if withdraw {
                        for key in former where try await directory.store.removeSigningKey(key.id) {
                            await directory.note(.signingKey, detail: "\(algorithm): the key \(key.id) was withdrawn")
                        }
                    }
                    made.append(KeyDocument(key, now: moment))
                }
                if options.json { return try Output.json(made) }
                for key in made { Output.line(key.words) }
                guard !now, !withdraw, let first = made.first else { return }
                Output.note("Published now; signing from \(first.signsFrom).")
            }
        }
    }
}

/// A key as `--json` shows it.
private struct KeyDocument: Encodable {
    let kid: String
    let algorithm: String
    let state: String
    let since: String
    let signsFrom: String

    private enum CodingKeys: String, CodingKey {
        case kid, algorithm, state, since
        case signsFrom = "signs_from"
    }

    init(_ key: SealedSigningKey, now: Date) {
        let (state, since) = key.state(at: now)
        kid = key.id.rawValue
        algorithm = key.algorithm.rawValue
        self.state = state.rawValue
        self.since = Moment.text(since)
        signsFrom = Moment.text(key.signsFrom)
    }

    /// The key on one line for people.
    var words: String { "\(kid)  \(algorithm)  \(state) since \(since)" }
}

/// Moments as commands print and read them.
enum Moment {
    /// A moment in UTC, exact to a second: `2027-01-31T09:30:00Z`.
    static func text(_ moment: Date) -> String { moment.formatted(.iso8601) }

    /// A moment as written: a day of UTC, or a time with its zone.
    static func parse(_ text: String) -> Date? {
        if let day = CalendarDay(text) { return try? Date("\(day)T00:00:00Z", strategy: .iso8601) }
        return try? Date(text, strategy: .iso8601)
    }
}

extension SigningAlgorithm: ExpressibleByArgument {
    /// The algorithm of a name as written, or nil.
    public init?(argument: String) { self.init(rawValue: argument) }
}
