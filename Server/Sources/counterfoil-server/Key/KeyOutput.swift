import CounterfoilServer
import HTTPTypes

/// The signing keys of the administration API in the output of commands.
enum KeyOutput {
    /// The path of the keys in the API.
    static let path = "/signing-keys"

    /// Returns a key as one line of text.
    static func line(_ key: AdministrationRecord) -> String {
        let until = key.text("tokens_until").map { ", tokens until \(DisplayName($0))" } ?? ""
        let values = ["kid", "algorithm", "state"].map { DisplayName(key.text($0) ?? "").description }
        return values.joined(separator: "  ") + " since \(DisplayName(key.text("since") ?? ""))" + until
    }
}

extension AdministrationTransport {
    /// Reads the signing keys, oldest first.
    func signingKeys() async throws -> [AdministrationRecord] { try await items(of: KeyOutput.path) }

    /// Deletes a signing key; returns false if there is none any more.
    func withdrawSigningKey(_ id: String) async throws -> Bool {
        let answer = try await change(.delete, KeyOutput.path + "/" + AdministrationOperation.segment(id))
        if answer.status == .notFound { return false }
        try answer.accepted()
        return true
    }
}
