# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Edits the erdma driver's sources so that user space can make address handles.
#
# The driver of Linux 7.3 makes them for the kernel only, so no provider, whoever wrote it, can
# send a user datagram on it. This is the change that it lacks: offer the same function to user
# space, and tell the handle's number, which a UD work queue entry names, behind the response.
# The result is a second module, erdma-user-ah, for the scenarios that show datagrams; all
# others run the unmodified driver. See "Address handles" in providers/erdma/README.md.

# erdma_main.c
s/^\t\.create_ah = erdma_create_ah,$/&\n\t.create_user_ah = erdma_create_ah,/

# erdma_verbs.c
/^int erdma_create_ah(/i\
static int erdma_answer_ah(struct ib_udata *udata, u32 ahn)\
{\
	if (!udata || !udata->outlen)\
		return 0;\
	return ib_copy_to_udata(udata, &ahn, min(sizeof(ahn), udata->outlen));\
}\

/^int erdma_create_ah(/,/^}/ s/^\treturn 0;$/\treturn erdma_answer_ah(udata, ah->ahn);/
