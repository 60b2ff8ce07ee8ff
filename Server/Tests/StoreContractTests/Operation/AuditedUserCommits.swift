import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import TestSupport
import Testing

extension AuditedCommitContractTests {
    /// The commits about users, their sessions and their ways in.
    static let users = [
        Step("add a user") { world async throws in
            let user = try User.named("bob")
            return { try await world.store.addUser(user, recording: $0).isCommitted }
        },
        Step("import a user") { world async throws in
            let user = ImportedUser(try User.named("bob"), keepsIdentifier: true)
            return { events in
                try await world.store.importUsers([user], recording: { _ in events }) == [.added]
            }
        },
        Step("add the first administrator") { world async throws in
            let user = User(
                username: try #require(Username("root")), email: nil, displayName: "Root", passwordHash: .example,
                role: .owner, createdAt: World.now)
            return { try await world.store.addFirstOwner(user, recording: $0).isCommitted }
        },
        Step("disable a user who is an owner") { world async throws in
            let user = try User.named("root")
            #expect(try await world.store.addUser(user) == .added)
            for id in [user.id, world.user.id] {
                #expect(
                    try await world.store.setRole(.owner, of: id, from: nil, at: World.now, recording: []) == .changed)
            }
            return { events in
                let outcome = try await world.store.disableUser(user.id, at: World.now, recording: events)
                // The next attempt would leave no owner who can sign in.
                _ = try await world.store.enableUser(user.id, at: World.now, recording: [])
                _ = try await world.store.setRole(nil, of: world.user.id, from: .owner, at: World.now, recording: [])
                return outcome.isCommitted
            }
        },
        Step("enable a user") { world async throws in
            let user = try User.named("bob", disabledAt: World.now)
            #expect(try await world.store.addUser(user) == .added)
            return { events in
                let outcome = try await world.store.enableUser(user.id, at: World.now, recording: events)
                _ = try await world.store.beginRemoval(
                    of: user.id, by: World.terms(of: user), recording: { _ in [] }, at: World.now)
                return outcome.isCommitted
            }
        },
        Step("change the role of a user") { world async throws in
            let user = try User.named("root")
            #expect(try await world.store.addUser(user) == .added)
            for id in [user.id, world.user.id] {
                #expect(
                    try await world.store.setRole(.owner, of: id, from: nil, at: World.now, recording: []) == .changed)
            }
            return { events in
                let outcome = try await world.store.setRole(
                    .support, of: user.id, from: .owner, at: World.now, recording: events)
                // The next attempt is for the only owner who can sign in.
                _ = try await world.store.setRole(.owner, of: user.id, from: .support, at: World.now, recording: [])
                _ = try await world.store.disableUser(world.user.id, at: World.now, recording: [])
                return outcome.isCommitted
            }
        },
        Step("change the groups and attributes of a user") { world async throws in
            let attributes = try UserAttributesContractTests.attributes(["staff"], ["floor": .integer(3)])
            return { events in
                try await world.store.replaceAttributes(
                    of: world.user.id, from: UserAttributes(), by: attributes, at: World.now, recording: events
                ).isCommitted
            }
        },
        Step("add a user with an identity") { world async throws in
            let user = try User.named("bob")
            let identity = try UserIdentityContractTests.identity("1", of: user)
            return { try await world.store.addUser(user, with: identity, recording: $0).isCommitted }
        },
        Step("add an identity") { world async throws in
            let identity = try UserIdentityContractTests.identity("1", of: world.user)
            return { try await world.store.addIdentity(identity, recording: $0).isCommitted }
        },
        Step("remove an identity") { world async throws in
            let identity = try UserIdentityContractTests.identity("1", of: world.user)
            #expect(try await world.store.addIdentity(identity, recording: []) == .added)
            return { events in
                try await world.store.removeIdentity(
                    identity.id, of: world.user.id, countingIdentitiesOf: [], recording: events
                ).isCommitted
            }
        },
        Step("change a password") { world async throws in
            { events in
                try await world.store.changePassword(
                    of: world.user.id, from: .example, to: .other, keeping: nil, at: World.now, recording: events
                ).isCommitted
            }
        },
        Step("send a link to an email address") { world async throws in
            let address = try #require(world.user.email)
            let verification = EmailVerification(
                userID: world.user.id, email: address, replacing: address,
                digest: ArtefactDigest(of: MailLinkSecret()), expires: World.now + 60)
            let mail = NewMail(
                id: MailIdentifier(), userID: world.user.id, sealed: [1], createdAt: World.now, expires: World.now + 60)
            return { events in
                let outcome = try await world.store.beginEmailVerification(
                    verification, sending: mail, recording: events)
                // The next attempt is for an address that the user does not have any more.
                var user = world.user
                user.email = nil
                #expect(try await world.store.updateUser(user, at: World.now) == .updated)
                return outcome.isCommitted
            }
        },
        Step("create a link of a user") { world async throws in
            let link = UserLink(
                digest: ArtefactDigest(ofUserLink: MailLinkSecret()), userID: world.user.id, origin: .operator,
                expires: World.now + 60)
            return { events in
                let outcome = try await world.store.addUserLink(link, sending: nil, recording: events)
                // The next attempt is for a user who is disabled.
                try await world.store.disableUser(world.user.id, at: World.now, recording: [])
                return outcome.isCommitted
            }
        },
        Step("set a password by a link") { world async throws in
            let link = UserLink(
                digest: ArtefactDigest(ofUserLink: MailLinkSecret()), userID: world.user.id, origin: .operator,
                expires: World.now + 60)
            #expect(try await world.store.addUserLink(link, sending: nil, recording: []) == .added)
            let reset = PasswordReset(of: world.user, by: .link(link.digest, nil), to: .other)
            return { events in
                try await world.store.resetPassword(
                    reset, at: World.now, recording: events
                ).isCommitted
            }
        },
        Step("verify an email address") { world async throws in
            let (address, secret) = (try #require(world.user.email), MailLinkSecret())
            let verification = EmailVerification(
                userID: world.user.id, email: address, replacing: address, digest: ArtefactDigest(of: secret),
                expires: World.now + 60)
            let mail = NewMail(
                id: MailIdentifier(), userID: world.user.id, sealed: [1], createdAt: World.now, expires: World.now + 60)
            let begun = try await world.store.beginEmailVerification(verification, sending: mail, recording: [])
            #expect(begun == .queued)
            return { events in
                try await world.store.verifyEmail(
                    of: world.user.id, proving: ArtefactDigest(of: secret), at: World.now, recording: events)
            }
        },
        Step("invite a person") { world async throws in
            let invitation = Invitation(
                digest: ArtefactDigest(of: SignUpSecret()), email: EmailAddress("invited@example.com"),
                createdAt: World.now, expiresAt: World.now + 60)
            return { events in
                let outcome = try await world.store.addInvitation(invitation, sending: nil, recording: events)
                // The address has an account before the next attempt.
                _ = try await world.store.addUser(try .named("invited", email: "invited@example.com"))
                return outcome.isCommitted
            }
        },
        Step("withdraw an invitation") { world async throws in
            let invitation = Invitation(
                digest: ArtefactDigest(of: SignUpSecret()), createdAt: World.now, expiresAt: World.now + 60)
            #expect(try await world.store.addInvitation(invitation, sending: nil, recording: []) == .added)
            return { try await world.store.removeInvitation(invitation.digest, recording: $0) }
        },
        Step("create an account by an invitation") { world async throws in
            let invitation = Invitation(
                digest: ArtefactDigest(of: SignUpSecret()), createdAt: World.now, expiresAt: World.now + 60)
            #expect(try await world.store.addInvitation(invitation, sending: nil, recording: []) == .added)
            return { events in
                try await world.store.addUser(
                    try .named("invited"), by: .invitation(invitation.digest), at: World.now, recording: events
                ).isCommitted
            }
        },
        Step("accept the terms") { world async throws in
            let user = try User.named("bob")
            #expect(try await world.store.addUser(user) == .added)
            let terms = AcceptedTerms(version: "1", acceptedAt: World.now)
            return { events in
                let isAccepted = try await world.store.acceptTerms(terms, by: user.id, recording: events)
                // The account is gone before the next attempt.
                let removal = try World.terms(of: user)
                _ = try await world.store.beginRemoval(
                    of: user.id, by: removal, recording: { _ in [] }, at: World.now)
                return isAccepted
            }
        },
        Step("end a session") { world async throws in
            { try await world.store.endSession(world.session.digest, at: World.now, recording: $0) }
        },
        Step("end a session of a user") { world async throws in
            { events in
                try await world.store.endSession(
                    world.session.digest, of: world.user.id, at: World.now, recording: events)
            }
        },
        Step("revoke a grant") { world async throws in
            let grant = world.grant()
            try await world.approve(grant)
            return { events in
                try await world.store.revokeGrant(
                    grant.id, because: .client, at: World.now, recording: events
                ).isCommitted
            }
        },
        Step("revoke a grant of a user") { world async throws in
            let grant = world.grant()
            try await world.approve(grant)
            return { events in
                try await world.store.revokeGrant(
                    grant.id, of: world.user.id, because: .user, at: World.now, recording: events
                ).isCommitted
            }
        },
        Step("withdraw a consent") { world async throws in
            try await world.approve(world.grant())
            return { events in
                try await world.store.narrowConsent(
                    of: world.user.id, to: world.client.id, keeping: Scope(), at: World.now, recording: events
                ).isCommitted
            }
        },
        Step("deny a device") { world async throws in
            let device = DeviceAuthorization(
                digest: ArtefactDigest(of: ClientSecret()), userCode: ArtefactDigest(of: ClientSecret()),
                clientID: world.client.id, scope: Scope([.openID]), codeChallenge: nil, requestedAt: World.now,
                expiresAt: World.now + 600)
            let limits = DeviceAuthorizationLimits(perSource: 10, total: 10)
            #expect(try await world.store.addDeviceAuthorization(device, within: limits) == .added)
            return { try await world.store.denyDevice(device.digest, at: World.now, recording: $0).isCommitted }
        },
    ]
}
