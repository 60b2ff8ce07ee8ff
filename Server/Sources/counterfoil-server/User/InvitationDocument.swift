import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation

/// An invitation in the output of commands.
struct InvitationDocument: Encodable {
    private let invitation: Invitation
    private let link: String?

    init(_ invitation: Invitation, link: String? = nil) {
        self.invitation = invitation
        self.link = link
    }

    private enum CodingKeys: String, CodingKey {
        case id, email, mailed, role, link
        case clientID = "client_id"
        case createdAt = "created_at"
        case expiresAt = "expires_at"
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(invitation.shortID, forKey: .id)
        try values.encodeIfPresent(invitation.email?.rawValue, forKey: .email)
        try values.encode(invitation.isMailed, forKey: .mailed)
        try values.encodeIfPresent(invitation.role?.rawValue, forKey: .role)
        try values.encodeIfPresent(invitation.clientID?.rawValue, forKey: .clientID)
        try values.encodeIfPresent(link, forKey: .link)
        try values.encode(Int(invitation.createdAt.timeIntervalSince1970), forKey: .createdAt)
        try values.encode(Int(invitation.expiresAt.timeIntervalSince1970), forKey: .expiresAt)
    }

    /// The invitation as one line of text.
    ///
    /// - Parameter now: The time, which decides whether the invitation has expired.
    func line(at now: Date) -> String {
        var words = "\(invitation.shortID)  \(invitation.expiresAt > now ? "expires" : "expired") "
        words += Moment.text(invitation.expiresAt)
        if let email = invitation.email { words += "  \(email)" }
        if let client = invitation.clientID { words += "  app \(client)" }
        if let role = invitation.role { words += ", \(role.rawValue)" }
        return words
    }
}
