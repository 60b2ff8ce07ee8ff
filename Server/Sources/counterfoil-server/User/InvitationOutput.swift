import CounterfoilServer

/// An invitation in the output of commands.
struct InvitationOutput {
    private let invitation: AdministrationRecord

    init(_ invitation: AdministrationRecord) { self.invitation = invitation }

    /// The invitation as one line of text.
    var line: String {
        func shown(_ member: String) -> String? { invitation.text(member).map { "\(EscapedText($0, limit: 3000))" } }
        var words = "\(shown("id") ?? "")  \(invitation.flag("expired") ? "expired" : "expires") "
        words += shown("expires_at") ?? ""
        if let email = shown("email") { words += "  \(email)" }
        if let client = shown("client_id") { words += "  app \(client)" }
        if let role = shown("role") { words += ", \(role)" }
        return words
    }
}
