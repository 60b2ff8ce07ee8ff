import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Users by SCIM, with the requests that directories send (RFC 7644).
struct SCIMUserTests {
    // The form of Microsoft Entra ID.
    @Test func `Entra finds no user, creates one, changes it by PATCH and disables it`() async throws {
        let scim = try await SCIMDesk()
        let empty = try await scim.find(#"userName eq "ada.lovelace""#)
        #expect(try empty.members["totalResults"] as? Int == 0)
        let created = try await scim.send(
            .post, "/Users",
            json: """
                {"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User",
                    "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"],
                 "externalId": "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef", "userName": "ada.lovelace", "active": true,
                 "emails": [{"primary": true, "type": "work", "value": "Ada@example.com"}],
                 "meta": {"resourceType": "User"}, "roles": [], "title": "Countess",
                 "name": {"formatted": "Ada Lovelace", "familyName": "Lovelace", "givenName": "Ada"},
                 "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": {"department": "Engines"}}
                """)
        #expect(created.status == .created)
        let resource = try created.members
        let id = try #require(resource["id"] as? String)
        #expect(created.fields[.location] == "https://id.example.com/scim/v2/Users/\(id)")
        #expect(resource["displayName"] as? String == "Ada Lovelace")
        #expect(resource["title"] == nil)
        #expect((resource["emails"] as? [[String: String]]) == [["value": "ada@example.com", "type": "work"]])
        let meta = try #require(resource["meta"] as? [String: String])
        #expect(meta["resourceType"] == "User")
        #expect(meta["version"] == created.fields[.eTag])
        #expect(meta["version"]?.hasPrefix("W/\"") == true)

        let changed = try await scim.patch(
            id,
            #"""
            {"op": "Replace", "path": "emails[type eq \"work\"].value", "value": "countess@example.com"},
            {"op": "Add", "path": "name.familyName", "value": "King"},
            {"op": "Add", "path": "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department", "value": "A"},
            {"op": "Replace", "path": "active", "value": "False"}
            """#)
        #expect(changed.status == .ok)
        #expect(try changed.members["active"] as? Bool == false)
        #expect(try changed.members["name"] as? [String: String] == ["givenName": "Ada", "familyName": "King"])
        let user = try #require(try await scim.desk.test.store.user(UserIdentifier(id) ?? scim.desk.root.id))
        #expect(user.disabledAt != nil && user.passwordHash == nil && user.profile.isEmailVerified != true)
        #expect(user.email == EmailAddress("countess@example.com"))
        let pathless = try await scim.patch(
            id, #"{"op": "replace", "value": {"active": "True", "name.givenName": "Augusta", "displayName": "Ada"}}"#)
        #expect(try pathless.members["active"] as? Bool == true)
        #expect((try pathless.members["name"] as? [String: String])?["givenName"] == "Augusta")
        #expect(try await scim.send(.delete, "/Users/\(id)").status == .noContent)
        #expect(try await scim.send(.get, "/Users/\(id)").status == .notFound)
    }

    // The form of Okta, which sends a placeholder as the password of a new user.
    @Test func `Okta creates a user, replaces it by PUT and deactivates it`() async throws {
        let scim = try await SCIMDesk()
        let listed = try await scim.send(.get, "/Users?startIndex=1&count=2")
        #expect(try listed.members["totalResults"] as? Int == 2)
        let id = try await scim.create(
            #"""
            "userName": "isaac", "name": {"givenName": "Isaac", "familyName": "Brock"}, "locale": "en-US",
            "emails": [{"primary": false, "value": "home@example.com", "type": "home"},
                {"primary": true, "value": "isaac@example.com", "type": "work"}],
            "displayName": "Isaac Brock", "externalId": "00ujl29u0le5T6Aj10h7", "groups": [],
            "password": "1mz050nq", "active": true
            """#)
        let isaac = try #require(UserIdentifier(id))
        let stored = try #require(try await scim.desk.test.store.user(isaac))
        #expect(stored.passwordHash == nil && stored.email == EmailAddress("isaac@example.com"))
        let replaced = try await scim.send(
            .put, "/Users/\(id)",
            json: #"""
                {"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "id": "\#(id)", "userName": "ISAAC",
                 "name": {"givenName": "Isaac"}, "emails": [], "active": false, "meta": {"resourceType": "User"}}
                """#)
        #expect(replaced.status == .ok)
        let resource = try replaced.members
        #expect(resource["emails"] == nil && resource["externalId"] == nil)
        #expect(resource["active"] as? Bool == false)
        #expect(resource["displayName"] as? String == "isaac")
        #expect(resource["name"] as? [String: String] == ["givenName": "Isaac"])
        let enabled = try await scim.patch(id, #"{"op": "replace", "value": {"active": true}}"#)
        #expect(try enabled.members["active"] as? Bool == true)
    }

    // An administrator can have disabled the user since the directory last wrote `active`.
    @Test func `a PUT request enables a user only if it says so, and takes null as an absent value`() async throws {
        let scim = try await SCIMDesk()
        let nothing = #""displayName": null, "active": null, "emails": null, "name": null, "password": null"#
        let id = try await scim.create(#""userName": "bob", "externalId": null, "title": null, \#(nothing)"#)
        #expect(try await scim.send(.get, "/Users/\(id)").members["active"] as? Bool == true)
        _ = try await scim.patch(id, #"{"op": "replace", "value": {"active": false, "displayName": "Robert"}}"#)
        func put(_ members: String) async throws -> [String: Any] {
            let reply = try await scim.send(
                .put, "/Users/\(id)",
                json: #"{"schemas": ["\#(SCIMDesk.userSchema)"], "userName": "bob"\#(members)}"#)
            #expect(reply.status == .ok)
            return try reply.members
        }
        #expect(try await put(#", "displayName": "Bob""#)["active"] as? Bool == false)
        let kept = try await put(", " + nothing)
        #expect(kept["active"] as? Bool == false)
        #expect(kept["displayName"] as? String == "bob")
        #expect(try await put(#", "active": true"#)["active"] as? Bool == true)
        #expect(try await put("")["active"] as? Bool == true)
    }

    // RFC 7644 §3.5.2.1
    @Test func `an address is replaced by one for the same use, and is not verified then`() async throws {
        let scim = try await SCIMDesk()
        let store = scim.desk.test.store
        let bob = try await scim.desk.test.addUser("bob", email: "bob@example.com")
        var verified = bob
        verified.profile.isEmailVerified = true
        #expect(try await store.updateUser(verified, at: scim.desk.test.clock.now) == .updated)
        for (operation, email, isVerified) in [
            (#""add", "value": [{"type": "home", "value": "home@example.com"}]"#, "bob@example.com", true),
            (#""add", "value": []"#, "bob@example.com", true),
            (#""add", "value": [{"type": "work", "value": "BOB@example.com"}]"#, "bob@example.com", true),
            (#""add", "value": [{"type": "work", "value": "b@example.com"}]"#, "b@example.com", nil),
            (#""add", "value": [{"value": "c@example.com"}]"#, "c@example.com", nil),
            (#""add", "value": {"type": "home", "primary": "True", "value": "d@example.com"}"#, "d@example.com", nil),
            (#""replace", "value": [{"type": "home", "value": "e@example.com"}]"#, "e@example.com", nil),
            (#""remove", "value": [{"value": "other@example.com"}]"#, "e@example.com", nil),
            (#""remove", "value": [{"value": "E@example.com"}]"#, nil, nil),
            (#""add", "value": [{"value": "e@example.com"}]"#, "e@example.com", nil),
            (#""replace", "value": []"#, nil, nil),
            (#""add", "value": [{"type": "home", "value": "f@example.com"}]"#, "f@example.com", nil),
        ] as [(String, String?, Bool?)] {
            let reply = try await scim.patch(bob.id.rawValue, #"{"path": "emails", "op": \#(operation)}"#)
            #expect(reply.status == .ok)
            let user = try #require(try await store.user(bob.id))
            #expect(user.email?.rawValue == email && user.profile.isEmailVerified == isVerified, "\(operation)")
        }
    }

    @Test func `each filter that a directory sends finds the user`() async throws {
        let scim = try await SCIMDesk()
        let id = try await scim.create(
            #""userName": "bob", "externalId": "E1", "emails": [{"value": "bob@example.com", "type": "work"}]"#)
        _ = try await scim.create(#""userName": "carol", "externalId": "e1", "active": false"#)
        for filter in [
            #"userName eq "BOB""#, #"USERNAME EQ "bob""#, #"externalId eq "E1""#, #"id eq "\#(id)""#,
            #"emails.value eq "Bob@Example.com""#, #"emails[type eq "work"].value eq "bob@example.com""#,
            #"emails[type eq "work" and value eq "bob@example.com"]"#, #"emails eq "bob@example.com""#,
            #"(userName eq "bob") and (active eq true and externalId eq "E1")"#, #"userName eq "b\u006Fb""#,
            #"urn:ietf:params:scim:schemas:core:2.0:User:userName eq "bob""#,
        ] {
            #expect(try await scim.find(filter).userNames == ["bob"], "\(filter)")
        }
        #expect(try await scim.find("active eq false").userNames == ["carol"])
        #expect(try await scim.find(#"active eq "True""#).userNames == ["alice", "bob", "root"])
        for filter in [
            #"userName eq "bob" and active eq false"#, #"userName eq "bob" and userName eq "carol""#,
            #"userName eq "bob@example.com""#, #"id eq "carol""#, #"active eq true and active eq false"#,
            #"emails[type eq "home"].value eq "bob@example.com""#,
        ] {
            let reply = try await scim.find(filter)
            #expect(reply.status == .ok)
            #expect(try reply.userNames.isEmpty, "\(filter)")
        }
        let search = try await scim.send(
            .post, "/Users/.search",
            json: #"""
                {"schemas": ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"], "filter": "externalId eq \"E1\"",
                 "attributes": ["userName"], "count": 10}
                """#)
        #expect(try search.userNames == ["bob"])
        #expect(try (search.members["Resources"] as? [[String: Any]])?.first?["displayName"] == nil)
    }

    @Test func `pages begin at startIndex, and a client chooses the attributes`() async throws {
        let scim = try await SCIMDesk()
        for name in ["bob", "carol", "dave"] { _ = try await scim.create(#""userName": "\#(name)""#) }
        let page = try await scim.send(.get, "/Users?startIndex=2&count=2")
        #expect(try page.userNames == ["bob", "carol"])
        #expect(try page.members["totalResults"] as? Int == 5)
        #expect(try page.members["itemsPerPage"] as? Int == 2)
        #expect(try await scim.send(.get, "/Users?startIndex=6").userNames.isEmpty)
        #expect(try await scim.send(.get, "/Users?startIndex=-3&count=1").userNames == ["alice"])
        let none = try await scim.send(.get, "/Users?count=0")
        #expect(try none.userNames.isEmpty)
        let id = try await scim.create(
            #""userName": "eve", "name": {"givenName": "Eve", "familyName": "Moneypenny"}"#)
        let only = try await scim.send(.get, "/Users/\(id)?attributes=name.givenName,active").members
        #expect(Set(only.keys) == ["schemas", "id", "name", "active"])
        #expect(only["name"] as? [String: String] == ["givenName": "Eve"])
        let without = try await scim.send(.get, "/Users/\(id)?excludedAttributes=name.givenName,meta").members
        #expect(without["meta"] == nil)
        #expect(without["name"] as? [String: String] == ["familyName": "Moneypenny"])
        let middle = try await scim.send(.get, "/Users/\(id)?attributes=name.middleName,emails.value").members
        #expect(Set(middle.keys) == ["schemas", "id"])
        let all = try await scim.send(.get, "/Users/\(id)?attributes=&excludedAttributes=meta").members
        #expect(all["userName"] as? String == "eve" && all["meta"] == nil)
        for query in ["count=x", "startIndex=1&startIndex=2", "attributes=id&excludedAttributes=id", "filter=%ZZ"] {
            #expect(try await scim.send(.get, "/Users?" + query).status == .badRequest, "\(query)")
        }
    }

    // A directory that reads on must not take a part of the users for all of them.
    @Test func `a list of too many users ends in an error, and a filter still finds each`() async throws {
        let scim = try await SCIMDesk()
        for number in 1..<UserListing.limit {
            let name = try #require(Username("u\(number)"))
            let user = User(
                username: name, email: nil, displayName: "U", passwordHash: nil, createdAt: scim.desk.test.clock.now)
            #expect(try await scim.desk.test.store.addUser(user, recording: []) == .added)
        }
        let last = try await scim.send(.get, "/Users?startIndex=\(UserListing.limit)&count=10")
        #expect(try last.userNames.count == 1)
        #expect(try last.members["totalResults"] as? Int == UserListing.limit + 1)
        let beyond = try await scim.send(.get, "/Users?startIndex=\(UserListing.limit + 1)")
        #expect(beyond.status == .badRequest && beyond.scimType == "tooMany")
        #expect(try await scim.find(#"userName eq "u9999""#).userNames == ["u9999"])
    }

    @Test func `an externalId of too many users ends in an error`() async throws {
        let scim = try await SCIMDesk()
        for number in 1...201 {
            let user = User(
                username: try #require(Username("u\(number)")), email: nil, displayName: "U", passwordHash: nil,
                createdAt: scim.desk.test.clock.now, externalID: ExternalIdentifier("E1"))
            if number == 201 { #expect(try await scim.find(#"externalId eq "E1""#).userNames.count == 100) }
            #expect(try await scim.desk.test.store.addUser(user, recording: []) == .added)
        }
        let reply = try await scim.find(#"externalId eq "E1""#)
        #expect(reply.status == .badRequest && reply.scimType == "tooMany")
        #expect(try await scim.find(#"userName eq "u7" and externalId eq "E1""#).userNames == ["u7"])
    }

    // RFC 7644 §3.14
    @Test func `a change with a former version is refused, and a read with the current one is empty`() async throws {
        let scim = try await SCIMDesk()
        let id = try await scim.create(#""userName": "bob""#)
        let tag = try #require(try await scim.send(.get, "/Users/\(id)").fields[.eTag])
        #expect(try await scim.send(.get, "/Users/\(id)", fields: [.ifNoneMatch: tag]).status == .notModified)
        let operation = #"{"op": "replace", "path": "displayName", "value": "Bob"}"#
        let changed = try await scim.patch(id, operation, fields: [.ifMatch: tag])
        #expect(changed.status == .ok && changed.fields[.eTag] != tag)
        #expect(try await scim.send(.get, "/Users/\(id)").fields[.eTag] == changed.fields[.eTag])
        let late = try await scim.patch(id, operation, fields: [.ifMatch: tag])
        #expect(late.status == .preconditionFailed)
        #expect(try await scim.send(.delete, "/Users/\(id)", fields: [.ifMatch: tag]).status == .preconditionFailed)
    }

    @Test func `the server describes itself, and other resource types get an error of SCIM`() async throws {
        let scim = try await SCIMDesk()
        let configuration = try await scim.send(.get, "/ServiceProviderConfig").members
        #expect((configuration["patch"] as? [String: Bool])?["supported"] == true)
        #expect((configuration["bulk"] as? [String: Any])?["supported"] as? Bool == false)
        let schema = try await scim.send(.get, "/Schemas/" + SCIMDesk.userSchema).members
        let attributes = try #require(schema["attributes"] as? [[String: Any]])
        #expect(
            attributes.compactMap { $0["name"] as? String } == ["userName", "name", "displayName", "emails", "active"])
        #expect(try await scim.send(.get, "/ResourceTypes/User").members["endpoint"] as? String == "/Users")
        #expect(try await scim.send(.get, "/Schemas").members["totalResults"] as? Int == 1)
        for path in ["/Groups", "/Groups/1", "/Schemas/x", "/ResourceTypes/Group", "/Users/per_unknown"] {
            let reply = try await scim.send(.get, path)
            #expect(reply.status == .notFound)
            #expect(try reply.members["status"] as? String == "404")
            #expect(
                try reply.members["schemas"] as? [String] == ["urn:ietf:params:scim:api:messages:2.0:Error"])
        }
        #expect(try await scim.send(.post, "/Schemas", json: "{}").status == .methodNotAllowed)
    }
}
