import ArgumentParser
import CounterfoilClient
import CounterfoilProtocol

/// The options `--resource` and `--scope` of commands that use an access token for a part of the sign-in.
struct TargetOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Request an access token for this API of the sign-in only. Can be repeated.", valueName: "uri"))
    var resource: [String] = []

    @Option(help: ArgumentHelp("Request an access token with only this part of the granted scope. Can be repeated."))
    var scope: [String] = []

    /// The part of the sign-in; nil if neither option is given, for the whole sign-in.
    var value: AccessTarget? { try? parsed() }

    func validate() throws {
        do { _ = try parsed() } catch { throw ValidationError("\(error)".capitalizedSentence) }
    }

    private func parsed() throws -> AccessTarget? {
        guard !resource.isEmpty || !scope.isEmpty else { return nil }
        return AccessTarget(
            resources: Set(try resource.map { try Resource($0) }),
            scope: scope.isEmpty ? nil : try Scope(parsing: scope.joined(separator: " ")))
    }

    /// The arguments from which this group parses a target.
    static func arguments(for target: AccessTarget?) -> [String] {
        guard let target else { return [] }
        return target.resources.map { "--resource=\($0)" }.sorted() + (target.scope.map { ["--scope=\($0)"] } ?? [])
    }

    /// Throws if one of the options is given although the command does not use the access token.
    func requireNone(_ reason: String) throws {
        guard value == nil else {
            throw ValidationError("--resource and --scope are for the access token; \(reason).")
        }
    }
}
